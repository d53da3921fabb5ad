'use strict';
const nameOf = (chart) =>
    chart.closest('section').querySelector('h2').textContent;
const allCharts = () => [...document.querySelectorAll('svg.chart')];
const lineOf = (kind, values, y) =>
    `<polyline class="${kind}" points="` +
    values
        .map((v, i) =>
            i === 0 ||
            i === values.length - 1 ||
            v !== values[i - 1] ||
            v !== values[i + 1]
                ? `${i},${y(v)} `
                : '',
        )
        .join('') +
    '"/>';
function draw(chart, { limit, history }) {
    if (!history.active) return;
    const top = Math.max(1, limit, ...history.active, ...history.queued);
    const y = (v) => (100 - (v * 100) / top).toFixed(1);
    chart.innerHTML =
        `<line class="limit" x1="0" x2="600" y1="${y(limit)}" y2="${y(limit)}"/>` +
        lineOf('queued', history.queued, y) +
        lineOf('active', history.active, y);
    chart.previousElementSibling.querySelector('.top').textContent =
        `0 to ${top}`;
}
async function drawThoseInSight() {
    for (const chart of allCharts()) {
        const { top, bottom } = chart.getBoundingClientRect();
        if (bottom < 0 || top > innerHeight) continue;
        const answer = await fetch(
            '?json&history=' + encodeURIComponent(nameOf(chart)),
            { cache: 'no-store' },
        );
        if (answer.ok) draw(chart, (await answer.json()).zones[0]);
    }
}
async function swap() {
    const answer = await fetch(location.href, { cache: 'no-store' });
    const page = new DOMParser().parseFromString(
        await answer.text(),
        'text/html',
    );
    const open = new Set(
        [...document.querySelectorAll('details[open]')].map((d) => d.id),
    );
    const drawn = new Map(
        allCharts().map((c) => [nameOf(c), c.closest('.history')]),
    );
    const main = page.querySelector('main');
    main.querySelectorAll('details').forEach((d) => {
        d.open = open.has(d.id);
    });
    main.querySelectorAll('svg.chart').forEach((c) => {
        const old = drawn.get(nameOf(c));
        if (old) c.closest('.history').replaceWith(old);
    });
    document.querySelector('main').replaceWith(main);
}
async function refresh(first) {
    try {
        if (!first) await swap();
        await drawThoseInSight();
        document.querySelector('#stale').textContent = '';
    } catch (e) {
        document.querySelector('#stale').textContent =
            ' (no answer from the server)';
    }
    setTimeout(refresh, document.hidden ? 10000 : 1000);
}
refresh(true);
