# The live page in a real browser, under load: right numbers that follow what
# happens, nothing loaded from elsewhere, nothing that its policy refuses, and
# readable without scripts, in the dark and on a phone.
#
# ADMISSION_SCREENSHOTS is a directory to leave pictures in.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Browser;

plan skip_all => 'no browser: install chromium' if !AdmissionTest::Browser::program();

my $ZONE = 'test.example:/cgi-bin/';

# { heading => { name => number } } of all sections.
my $FACTS = <<'SCRIPT';
Object.fromEntries([...document.querySelectorAll('main section')].map(section => [
    section.querySelector('h2').textContent,
    Object.fromEntries([...section.querySelectorAll('dl > div')].map(fact => [
        fact.querySelector('dt').textContent,
        Number(fact.querySelector('dd').textContent)]))]))
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
    return [...document.querySelectorAll('h1, h2, p, span, b, a, dt, dd, summary, caption, th, td')]
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
        !grep { ($facts->{$_} // -1) != $state{$_} } keys %state;
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

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf => <<'CONF');
<Location /admission>
    SetHandler admission-status
</Location>
<Location /cgi-bin/>
    MaxConcurrent 2
    AdmissionQueue 3
</Location>
<Location /cgi-bin/a-name-that-is-much-too-long-for-the-width-of-a-telephone-and-cannot-be-broken/>
    MaxConcurrent 1
    AdmissionQueue 0
</Location>
CONF
    $httpd->expect_rejections($ZONE, 'full');
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
    shows($browser, 'limit, active and queued', Limit => 2, Active => 2, Queued => 1,
          QueueLength => 3, Admitted => 7);
    my $facts = $browser->value($FACTS);
    is $facts->{'Workers and children'}{Zones}, 2, 'and facts of the server';

    # A page that was loaded again would not have this any more.
    $browser->value('window.isTheSame = true');
    $browser->value('document.querySelector("details").open = true');
    $more->(2, Active => 2, Queued => 3);
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'one is rejected';
    shows($browser, 'it follows', Active => 2, Queued => 3, RejectedFull => 1);
    ok $browser->value('window.isTheSame'), '... and was not loaded again';
    ok $browser->value('document.querySelector("details").open'), '... what was open stays open';
    like $browser->value('document.querySelector(".say.bad").textContent'),
        qr/^Queue full for \d+ s: 1 rejected/, 'it says what is wrong';

    my %asked;
    $asked{$_}++ for $browser->requests;
    # The icon is in the page itself.
    delete $asked{'data:,'};
    my $history = "$url?json&history=" . $ZONE =~ s{([:/])}{sprintf '%%%02X', ord $1}ger;
    is_deeply [ sort grep { $_ ne $history } grep { !/a-name-that/ } keys %asked ],
        [ $url, "$url?script", "$url?style" ], 'nothing is loaded but the page and its parts';
    cmp_ok $asked{$history}, '>', 1, '... and the history of what is in sight';
    is $browser->value('document.querySelectorAll("svg.chart polyline.active").length'), 2,
        '... which is drawn';
    # It follows the numbers: a history is fetched after the page.
    wait_for {
        $browser->value('document.querySelector("svg.chart polyline.queued").outerHTML')
            =~ / 599,0\.0 "/
    } '... with the line full now', 15;
    cmp_ok $asked{$url}, '>', 1, '... the page again and again';
    is_deeply [ $browser->complaints ], [], 'the browser has nothing to complain of';

    for my $scheme (qw(light dark)) {
        $browser->prefer($scheme);
        for my $width (1200, 380) {
            $browser->resize($width, 900);
            is_readable($browser, "$scheme, $width pixels");
            photograph($browser, "$scheme-$width");
        }
    }
    my $ground = 'getComputedStyle(document.body).backgroundColor';
    my $dark = $browser->value($ground);
    $browser->prefer('light');
    isnt $browser->value($ground), $dark, 'the dark is another one';

    $browser->without_scripts;
    $browser->visit($url);
    shows($browser, 'without scripts: the same numbers', Limit => 2, Active => 2, Queued => 3,
          RejectedFull => 1);
    is_readable($browser, 'without scripts');
    $httpd->open_gate('go');
    is_deeply statuses(answers(@line)), { 200 => 5 }, 'all end well';
    shows($browser, 'without scripts: it follows', Active => 0, Queued => 0, Admitted => 10);
    is_deeply [ $browser->complaints ], [], 'the browser has nothing to complain of';
    $browser->quit;

    $browser = AdmissionTest::Browser->start(width => 380, height => 900);
    $browser->visit($url);
    $httpd->stop;
    wait_for {
        $browser->value('document.querySelector("#stale").textContent') =~ /no answer/
    } 'it says when the server does not answer', 15;
    is_deeply [ sort keys %{ $browser->value($FACTS) } ],
        [ 'Workers and children', $ZONE,
          "${ZONE}a-name-that-is-much-too-long-for-the-width-of-a-telephone-and-cannot-be-broken/" ],
        '... and keeps what it knew';
    $browser->quit;
}, 'event+cgid');

done_testing;
