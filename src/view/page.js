'use strict';
const one = (selector, from = document) => from.querySelector(selector);
const nameOf = (row) => one('a', row).textContent;
const opened = new Map();
const seen = new Map();
let timer;
let turn = Promise.resolve();

async function get(url) {
    const answer = await fetch(url, { cache: 'no-store' });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return new DOMParser().parseFromString(text, 'text/html');
}
const isTyped = (form) =>
    form.dataset.typed || form.contains(document.activeElement);
const isKept = (name, element) =>
    (name === 'open' && element.localName === 'details') ||
    name === 'aria-expanded' ||
    name === 'aria-controls';
function morphAttributes(old, now) {
    for (const { name, value } of now.attributes)
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes])
        if (!now.hasAttribute(name) && !isKept(name, old))
            old.removeAttribute(name);
}
/* Keep elements that have the focus, are open or have been typed into. */
function morph(old, now) {
    if (old.nodeName !== now.nodeName) return old.replaceWith(now);
    if (old.nodeType !== Node.ELEMENT_NODE) {
        if (old.data !== now.data) old.data = now.data;
        return;
    }
    if (old.localName === 'form' && (old.id || isTyped(old))) return;
    if (old.id === 'rows') return morphRows(old, now);
    morphAttributes(old, now);
    morphChildren(old, now);
}
const kindOf = (node) =>
    `${node.nodeName} ${node.id || ''} ${(node.classList || [])[0]}`;
/* Update each element from the next one of its kind; insert the others. */
function morphChildren(old, now) {
    const olds = [...old.childNodes];
    for (const fresh of [...now.childNodes]) {
        const near = fresh.nodeType === Node.TEXT_NODE ? 1 : olds.length;
        const at = olds
            .slice(0, near)
            .findIndex((node) => kindOf(node) === kindOf(fresh));
        if (at < 0) old.insertBefore(fresh, olds[0] || null);
        else {
            olds.splice(0, at).forEach((node) => node.remove());
            morph(olds.shift(), fresh);
        }
    }
    olds.forEach((node) => node.remove());
}
/* Do not reorder rows while the pointer or the focus is in the table, or a row
 * is open. */
function morphRows(old, now) {
    const rows = new Map();
    const still =
        old.contains(document.activeElement) ||
        old.matches(':hover') ||
        opened.size;
    for (const row of old.rows)
        if (!row.classList.contains('detail')) rows.set(nameOf(row), row);
    const order = [...now.rows].map((fresh) => {
        const row = rows.get(nameOf(fresh));
        if (!row) return old.appendChild(fresh);
        rows.delete(nameOf(fresh));
        morph(row, fresh);
        return row;
    });
    rows.forEach((row, name) => {
        close(name);
        row.remove();
    });
    if (!still && order.some((row, i) => old.rows[i] !== row))
        old.append(...order);
    for (const row of order) showRate(row);
}
/* Requests per second, over the last five seconds. */
function showRate(row) {
    const cell = one('.rate', row);
    if (!cell) return;
    const count = Number(cell.previousSibling.data);
    const at = performance.now();
    const past = (seen.get(nameOf(row)) || []).filter((l) => at - l.at < 5500);
    seen.set(nameOf(row), [...past, { count, at }]);
    if (past.length === 0) return;
    const rate = (1000 * (count - past[0].count)) / (at - past[0].at);
    if (rate > 0) cell.textContent = rate.toFixed(1) + '/s';
}
function close(name) {
    const detail = opened.get(name);
    opened.delete(name);
    if (detail) detail.remove();
}
async function fill(name, detail) {
    const page = await get('?zone=' + encodeURIComponent(name));
    const cell = detail.cells[0];
    const section = one('section.zone', page);
    if (cell.firstChild) morph(cell.firstChild, section);
    else cell.append(section);
}
async function toggle(link) {
    const row = link.closest('tr');
    const name = nameOf(row);
    const open = !opened.has(name);
    link.setAttribute('aria-expanded', open);
    if (!open) return close(name);
    const detail = document.createElement('tr');
    detail.className = 'detail';
    detail.insertCell().colSpan = row.cells.length;
    opened.set(name, detail);
    row.after(detail);
    await soon();
}
async function look() {
    const page = await get(location.href);
    morph(one('main'), one('main', page));
    for (const [name, detail] of opened) await fill(name, detail);
    document
        .querySelectorAll('#rows > tr:not(.detail) a:not([aria-expanded])')
        .forEach((link) => link.setAttribute('aria-expanded', false));
}
function say(text) {
    if (one('#stale').textContent !== text) one('#stale').textContent = text;
}
async function refresh() {
    try {
        await look();
        if (/^No response/.test(one('#stale').textContent)) say('');
    } catch (e) {
        say('No response from the server. The numbers below are out of date.');
    }
    clearTimeout(timer);
    timer = setTimeout(soon, document.hidden ? 10000 : 1000);
}
function soon() {
    clearTimeout(timer);
    turn = turn.then(refresh);
    return turn;
}
async function order(form, button) {
    const data = new URLSearchParams(new FormData(form));
    if (button && button.name) data.set(button.name, button.value);
    try {
        const answer = await fetch(location.pathname, {
            method: 'POST',
            body: data,
            headers: { 'X-Admission-Control': '1' },
        });
        say(answer.ok ? 'Done.' : await answer.text());
    } catch (e) {
        say('No response: the change may or may not have been made.');
    }
    delete form.dataset.typed;
    await soon();
}
function filter() {
    const text = one('#filter input').value;
    const query = text ? '?filter=' + encodeURIComponent(text) : '';
    history.replaceState(null, '', location.pathname + query);
    soon();
}
document.addEventListener('click', (event) => {
    const link = event.target.closest('#rows > tr:not(.detail) th a');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    toggle(link);
});
document.addEventListener('submit', (event) => {
    event.preventDefault();
    if (event.target.id === 'filter') filter();
    else order(event.target, event.submitter);
});
document.addEventListener('input', (event) => {
    const form = event.target.form;
    if (form.id === 'filter') filter();
    else form.dataset.typed = 'yes';
});
soon();
