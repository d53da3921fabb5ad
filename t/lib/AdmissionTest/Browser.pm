package AdmissionTest::Browser;

# A real browser without a window: Chromium, told what to do over a pipe by its
# DevTools protocol, as messages of JSON with a NUL behind each.
#
#     my $browser = AdmissionTest::Browser->start(width => 1200, height => 900);
#     $browser->visit('http://127.0.0.1:8080/');
#     $browser->value('document.title');
#     $browser->requests;      # URLs of all that it asked for since visit()
#     $browser->complaints;    # errors, such as what a policy has refused
#     $browser->quit;
#
# Everything that it leaves behind is in a directory that goes with it.

use strict;
use warnings;
use experimental 'signatures';

use Fcntl 'F_DUPFD';
use File::Temp ();
use IO::Select;
use JSON::PP ();
use MIME::Base64 'decode_base64';
use POSIX ();
use Time::HiRes qw(sleep time);

use Admission::File qw(spill);

my $PATIENCE = 120;    # seconds for an answer: at first it has to start

my @OPTIONS = qw(
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars
    --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --disable-default-apps --disable-extensions --disable-breakpad
    --remote-debugging-pipe
);

# Its path, or nothing where it is not installed.
sub program {
    my ($found) = grep { -x } map { ("$_/chromium", "$_/chromium-browser", "$_/google-chrome") }
                  split /:/, $ENV{PATH};
    return $found;
}

sub start($class, %o) {
    my $profile = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    pipe my $orders,  my $to_browser or die "pipe: $!\n";
    pipe my $answers, my $to_test    or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        setpgrp 0, 0;
        # It reads from descriptor 3 and writes to 4. Moved out of the way first:
        # ours may be these.
        my ($in, $out) = map { fcntl($_, F_DUPFD, 20) // POSIX::_exit(127) } $orders, $to_test;
        POSIX::dup2($in, 3);
        POSIX::dup2($out, 4);
        open STDOUT, '>', "$profile/log";
        open STDERR, '>&', \*STDOUT;
        $ENV{HOME} = "$profile";
        exec program(), @OPTIONS, "--user-data-dir=$profile",
             '--window-size=' . join(',', @o{qw(width height)}), 'about:blank'
            or POSIX::_exit(127);
    }
    my $self = bless { pid => $pid, profile => $profile, out => $to_browser, in => $answers,
                       buffer => '', number => 0, events => [] }, $class;
    $to_browser->autoflush(1);
    $self->start_page(%o);
    return $self;
}

sub start_page($self, %o) {
    my $target = $self->tell('Target.createTarget', url => 'about:blank');

    $self->{session} = $self->tell('Target.attachToTarget', targetId => $target->{targetId},
                                   flatten => JSON::PP::true)->{sessionId};
    $self->tell("$_.enable") for qw(Page Network Runtime Log);
    $self->resize(@o{qw(width height)});
}

# One order; @return its result.
sub tell($self, $method, %params) {
    my $number = ++$self->{number};
    my %order = (id => $number, method => $method, params => \%params);
    local $SIG{PIPE} = 'IGNORE';

    $order{sessionId} = $self->{session} if $self->{session};
    print { $self->{out} } JSON::PP::encode_json(\%order), "\0";
    while (1) {
        my $message = $self->next_message("$method is not answered");
        if (($message->{id} // 0) != $number) {
            push @{ $self->{events} }, $message;
            next;
        }
        die "$method: $message->{error}{message}\n" if $message->{error};
        return $message->{result};
    }
}

sub next_message($self, $otherwise) {
    my $deadline = time + $PATIENCE;
    my $end;

    while (($end = index $self->{buffer}, "\0") < 0) {
        my $left = $deadline - time;
        my $got = $left > 0 && IO::Select->new($self->{in})->can_read($left)
            && sysread $self->{in}, $self->{buffer}, 65536, length $self->{buffer};
        die "$otherwise\n" if !$got;
    }
    my $message = substr $self->{buffer}, 0, $end + 1, '';
    chop $message;
    return JSON::PP::decode_json($message);
}

# ---- the page --------------------------------------------------------------------

sub visit($self, $url) {
    my $result;

    $self->{events} = [];
    $result = $self->tell('Page.navigate', url => $url);
    die "$url: $result->{errorText}\n" if $result->{errorText};
    while (!grep { $_->{method} eq 'Page.loadEventFired' } @{ $self->{events} }) {
        push @{ $self->{events} }, $self->next_message("$url does not load");
    }
}

# What an expression of the page's script is, as far as JSON can say it.
sub value($self, $expression) {
    my $result = $self->tell('Runtime.evaluate', expression => $expression,
                             returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true);

    die "$expression: $result->{exceptionDetails}{text} $result->{result}{description}\n"
        if $result->{exceptionDetails};
    return $result->{result}{value};
}

sub resize($self, $width, $height) {
    $self->tell('Emulation.setDeviceMetricsOverride', width => $width, height => $height,
                deviceScaleFactor => 1, mobile => JSON::PP::false);
}

# 'light' or 'dark'
sub prefer($self, $scheme) {
    $self->tell('Emulation.setEmulatedMedia',
                features => [ { name => 'prefers-color-scheme', value => $scheme } ]);
}

sub without_scripts($self) {
    $self->tell('Emulation.setScriptExecutionDisabled', value => JSON::PP::true);
}

# The whole page as PNG.
sub photograph($self, $path) {
    my $image = $self->tell('Page.captureScreenshot', format => 'png',
                            captureBeyondViewport => JSON::PP::true);

    spill($path, decode_base64($image->{data}));
}

sub events($self, $method) {
    $self->value('0');    # what was before has arrived when this is answered
    return map { $_->{params} } grep { $_->{method} eq $method } @{ $self->{events} };
}

sub requests($self) {
    return map { $_->{request}{url} } $self->events('Network.requestWillBeSent');
}

sub complaints($self) {
    return ((map { "$_->{entry}{level}: $_->{entry}{text}" }
             grep { $_->{entry}{level} ne 'info' } $self->events('Log.entryAdded')),
            (map { $_->{exceptionDetails}{text} } $self->events('Runtime.exceptionThrown')),
            (map { $_->{args}[0]{value} } $self->events('Runtime.consoleAPICalled')));
}

# ---- the end -----------------------------------------------------------------------

sub quit($self) {
    my $pid = delete $self->{pid} or return;
    my $deadline = time + 5;

    eval { delete $self->{session}; $self->tell('Browser.close') };
    sleep 0.02 while kill(0, -$pid) && time < $deadline && waitpid($pid, POSIX::WNOHANG()) >= 0;
    kill KILL => -$pid;
    waitpid $pid, 0;
}

sub DESTROY($self) {
    local ($?, $@);
    $self->quit;
}

1;
