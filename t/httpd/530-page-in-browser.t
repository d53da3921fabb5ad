# The live page in a real browser, under load: right numbers that follow what
# happens, nothing loaded from elsewhere, nothing that its policy refuses, usable
# without scripts, with a keyboard alone, in the dark, on a phone, and with a
# thousand zones.
#
# ADMISSION_SCREENSHOTS is a directory to leave pictures in.

use AdmissionTest;
use AdmissionTest::Browser;
use JSON::PP ();

plan skip_all => 'no browser: install chromium' if !AdmissionTest::Browser::program();

my $ZONE = 'test.example:/cgi-bin/';
my $PATH = '/cgi-bin/a-name-that-is-much-too-long-for-the-width-of-a-phone-and-cannot-be-broken/';
my $LONG = "test.example:$PATH";

# { heading => { name => number } } of all sections.
my $FACTS = <<'SCRIPT';
Object.fromEntries([...document.querySelectorAll('main section')].map(section => [
    section.querySelector('h2').textContent,
    Object.fromEntries([...section.querySelectorAll('dl > div')].map(fact => [
        fact.dataset.field,
        Number((fact.querySelector('data') || {}).value ?? fact.querySelector('dd').textContent)]))]))
SCRIPT

# What is too pale to read on its background: [ text, ratio ]. The limit is that
# of the WCAG for normal text.
my $PALE = <<'SCRIPT';
(() => {
    const light = color => {
        const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    const ratio = element => {
        const own = light(getComputedStyle(element).color);
        return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
    };
    return [...document.querySelectorAll('h1, h2, p, span, b, a, dt, dd, summary, caption, th, td, label, button, legend')]
        .filter(element => ratio(element) < 4.5)
        .map(element => [element.textContent, ratio(element)]);
})()
SCRIPT

# Texts of fewer than ten pixels.
my $SMALL = <<'SCRIPT';
[...document.querySelectorAll('h1, h2, p, span, b, a, dt, dd, summary, caption, th, td')]
    .filter(element => element.checkVisibility())
    .filter(element => parseFloat(getComputedStyle(element).fontSize) < 10)
    .map(element => element.textContent)
SCRIPT

sub shows {
    my ($browser, $what, %state) = @_;
    my $facts;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    wait_for {
        $facts = $browser->value($FACTS)->{$ZONE};
        # The page leaves out what is 0.
        $facts->{Limit} && !grep { ($facts->{$_} // 0) != $state{$_} } keys %state;
    } $what, 15 or diag explain $facts;
}

sub photograph {
    my ($browser, $name) = @_;
    my $directory = $ENV{ADMISSION_SCREENSHOTS} or return;
    $browser->photograph("$directory/$name.png");
}

sub is_readable {
    my ($browser, $how) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply $browser->value($PALE), [], "$how: nothing is pale";
    is_deeply $browser->value($SMALL), [], "$how: nothing is tiny";
    is $browser->value('document.querySelectorAll("svg text").length'), 0,
        "$how: no text shrinks with a chart";
    cmp_ok $browser->value('document.documentElement.scrollWidth'), '<=',
        $browser->value('innerWidth'), "$how: nothing sticks out";
}

# What a screen reader would miss: fields and charts without a name, cells without
# headers, identifiers twice.
my $NAMELESS = <<'SCRIPT';
(() => {
    const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
    return [
        ...[...document.querySelectorAll('input:not([type=hidden])')].filter(e => !e.labels.length),
        ...[...document.querySelectorAll('svg:not([aria-hidden]):not([aria-label])')],
        ...[...document.querySelectorAll('table')].filter(e => !e.caption),
        ...[...document.querySelectorAll('th:not([scope])')],
        ...[...document.querySelectorAll('button, a')].filter(e => !e.textContent.trim()),
    ].map(element => element.outerHTML.slice(0, 100))
        .concat(ids.filter((id, i) => ids.indexOf(id) !== i));
})()
SCRIPT

my $FILTER = 'document.querySelector("#filter input")';
my $OPEN = 'document.querySelectorAll(".detail section").length';
my $ROWS = '[...document.querySelectorAll("#rows > tr:not(.detail) > th")].map(e => e.textContent)';

sub press {
    my ($browser, $key, $text) = @_;
    my %key = (type => 'keyDown', key => $key, code => $key);

    $browser->tell('Input.dispatchKeyEvent', %key, $text ? (text => $text) : (),
                   windowsVirtualKeyCode => { Tab => 9, Enter => 13 }->{$key});
    $browser->tell('Input.dispatchKeyEvent', %key, type => 'keyUp');
}

# With the keys alone, as far as the link that has this text, and open it.
sub open_by_keys {
    my ($browser, $name) = @_;

    for (1 .. 20) {
        last if $browser->value('document.activeElement.textContent') eq $name;
        press($browser, 'Tab');
    }
    is $browser->value('document.activeElement.textContent'), $name, 'the Tab key finds the zone';
    press($browser, 'Enter', "\r");
    wait_for { $browser->value($OPEN) == 1 } 'Enter opens it';
}

sub open_first {
    my ($browser) = @_;
    $browser->value('document.querySelector("#rows a").click()');
    wait_for { $browser->value($OPEN) == 1 } 'the first one opens';
}

sub types {
    my ($browser, $field, $text) = @_;
    $browser->value("$field.focus(); $field.select()");
    $browser->tell('Input.insertText', text => $text);
}

# Of a page that may: what is typed survives a refresh, Enter sends it.
sub gives_orders {
    my ($httpd, $browser) = @_;
    my $length = 'document.querySelector("input[name=queue]:not([type=hidden])")';

    $browser->visit($httpd->url('/control'));
    $browser->value('document.querySelector("#rows a").click()');
    wait_for { $browser->value('document.querySelectorAll("form.order").length') == 4 }
        'forms for limit, queue, mode and reset';
    is_readable($browser, 'with forms');
    $browser->resize(1200, 900);
    photograph($browser, 'control-1200');
    is_deeply $browser->value($NAMELESS), [], 'forms have names';
    types($browser, $length, '4');
    $browser->value('new Promise(done => setTimeout(done, 2200))');
    is $browser->value("$length.value"), 4, 'what is typed outlives a refresh';
    is $browser->value("document.activeElement === $length"), JSON::PP::true(), '... so does focus';
    press($browser, 'Enter', "\r");
    $httpd->zone_becomes('/cgi-bin/', 'the order holds', QueueLength => 4, Overridden => 1);
    wait_for { $browser->value('document.querySelector("#stale").textContent') eq 'Done.' }
        'the page says so';
    $browser->value('[...document.querySelectorAll("form.order button")].pop().click()');
    $httpd->zone_becomes('/cgi-bin/', 'the configuration holds again', QueueLength => 3, Overridden => 0);
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf => "ExtendedStatus On\n"
        . location('/control', 'SetHandler admission-control')
        . location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 3 timeout=3000s')
        . location($PATH, 'MaxConcurrent 1', 'AdmissionQueue 0'));
    $httpd->expect_rejections($ZONE, 'full');
    $httpd->expect_in_log(qr/ADM0207/, qr/ADM0110: the zones can use/);
    my $url = $httpd->url('/admission');
    my $browser = AdmissionTest::Browser->start(width => 1200, height => 900);
    my @line;
    my $more = sub {
        my ($number, %state) = @_;
        push @line, map { $httpd->ask('/cgi-bin/heavy?until=go') } 1 .. $number;
        $httpd->zone_becomes('/cgi-bin/', 'more come', %state);
    };

    is_deeply statuses(answers(map { $httpd->ask("/cgi-bin/heavy?ms=$_") } 2, 5, 10, 30, 90)),
        { 200 => 5 }, 'five have run';
    $more->(2, Active => 2);
    $more->(1, Active => 2, Queued => 1);
    $browser->visit($url);
    is_deeply $browser->value($ROWS), [ $ZONE, $LONG ], 'the zone where something happens is first';
    open_by_keys($browser, $ZONE);
    shows($browser, 'limit, active and queued', Limit => 2, Active => 2, Queued => 1,
          QueueLength => 3, Admitted => 7);
    is $browser->value($FACTS)->{'Workers and children'}{Zones}, 2, 'and facts of the server';
    my $who = '[...document.querySelectorAll(".who tbody tr")].map(e => e.textContent)';
    like join("\n", @{ $browser->value($who) }),
        qr{^running.*GET /cgi-bin/heavy\?until=go.*\nrunning.*\nwaiting}, 'and the running and waiting requests';

    # A page that was loaded again would not have this any more.
    $browser->value('window.isTheSame = true');
    $browser->value('document.querySelector("details").open = true');
    $more->(2, Active => 2, Queued => 3);
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'one is rejected';
    shows($browser, 'it follows', Active => 2, Queued => 3, RejectedFull => 1);
    wait_for { $browser->value('document.querySelector(".state").textContent') eq 'rejecting' } '... its state is rejecting';
    ok $browser->value('window.isTheSame'), '... and was not loaded again';
    ok $browser->value('document.querySelector("details").open'), '... what was open stays open';
    is $browser->value('document.activeElement.textContent'), $ZONE, '... and focus stays';
    like $browser->value('document.querySelector(".say.bad").textContent'),
        qr/^The queue has been full for \d+ s; 1 request was rejected/, 'it says what is wrong';
    is $browser->value('document.querySelector(".reasons tr:last-child").textContent'), 'full1',
        '... and for which reason';
    is_deeply $browser->value($NAMELESS), [], 'a screen reader has a name for everything';

    my %asked;
    $asked{$_}++ for $browser->requests;
    # The icon is in the page itself.
    delete $asked{'data:,'};
    my $zone = "$url?zone=" . $ZONE =~ s{([:/])}{sprintf '%%%02X', ord $1}ger;
    is_deeply [ sort keys %asked ], [ $url, "$url?script", "$url?style", $zone ],
        'nothing is loaded but the page and its parts';
    cmp_ok $asked{$_}, '>', 1, '... again and again' for $url, $zone;
    # It follows the numbers.
    wait_for {
        $browser->value('document.querySelector("svg.chart polyline.queued").outerHTML')
            =~ / 599,0\.0 "/
    } 'the chart shows the queue as full now';
    is_deeply $browser->value('[...document.querySelectorAll("svg.chart polyline")].map(e => getComputedStyle(e).fill)'),
        [ ('none') x 3 ], '... in lines, not areas';
    like $browser->value('document.querySelector(".x").textContent'), qr/^(?:\d\d:\d\d){6}$/,
        '... and the time of day';

    $browser->value('document.activeElement.click()');
    is $browser->value('document.querySelectorAll(".detail").length'), 0, 'it closes';
    types($browser, $FILTER, 'MUCH-too');
    wait_for { "@{ $browser->value($ROWS) }" eq $LONG } 'the filter leaves one';
    open_first($browser);
    is $browser->value("$FILTER.value"), 'MUCH-too', '... what was typed stays';
    $browser->visit($url);
    open_first($browser);

    for my $scheme (qw(light dark)) {
        $browser->prefer($scheme);
        for my $width (1200, 360) {
            $browser->resize($width, 900);
            is_readable($browser, "$scheme, $width pixels");
            photograph($browser, "$scheme-$width");
        }
    }
    my $ground = 'getComputedStyle(document.body).backgroundColor';
    my $dark = $browser->value($ground);
    $browser->prefer('light');
    isnt $browser->value($ground), $dark, 'the dark is another one';

    gives_orders($httpd, $browser);
    $browser->without_scripts;
    $browser->visit($zone);
    shows($browser, 'without scripts: the same numbers', Limit => 2, Active => 2, Queued => 3,
          RejectedFull => 1);
    is_readable($browser, 'without scripts');
    $browser->visit($url);
    types($browser, $FILTER, 'MUCH-too');
    press($browser, 'Enter', "\r");
    wait_for { ($browser->value('location.search') // '') eq '?filter=MUCH-too' }
        'without scripts: the filter is a form', 15;
    wait_for { "@{ $browser->value($ROWS) }" eq $LONG } '... and leaves one zone';
    $httpd->serves('go', 'all end well', @line);
    $browser->visit($zone);
    shows($browser, 'without scripts: the next numbers', Active => 0, Queued => 0, Admitted => 10);
    is_deeply [ $browser->complaints ], [], 'the browser has nothing to complain of';
    $browser->quit;

    # A thousand zones: the page comes immediately, works, and finds any of them.
    $httpd->add_conf(join '', map {
        location("/zone/$_", 'MaxConcurrent 1', 'AdmissionQueue 0') } 1 .. 998);
    $httpd->graceful;
    $browser = AdmissionTest::Browser->start(width => 360, height => 900);
    $browser->visit($url);
    is scalar @{ $browser->value($ROWS) }, 60, 'of a thousand zones it shows some';
    like $browser->value('document.querySelector("#rest").textContent'), qr/^940 more are not shown/,
        '... and says how many it does not';
    is_readable($browser, 'a thousand zones on a phone');
    types($browser, $FILTER, '/zone/777');
    wait_for { "@{ $browser->value($ROWS) }" eq 'test.example:/zone/777' } 'the filter finds any';
    is_deeply [ $browser->complaints ], [], 'the browser has nothing to complain of';
    $httpd->stop;
    wait_for {
        $browser->value('document.querySelector("#stale").textContent') =~ /No response/
    } 'it says when the server does not answer';
    is_deeply $browser->value($ROWS), ['test.example:/zone/777'], '... and keeps what it knew';
    $browser->quit;
}, 'event+cgid');
