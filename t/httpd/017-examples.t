# Every file of conf/ and conf/examples/, and every configuration that README, the guide and
# the manual show, can be used as it is.

use FindBin;
use AdmissionTest;
use Cwd ();
use Fields;
use File::Basename 'dirname';
use JSON::PP;
use Project;

my ($combo) = combos() or plan skip_all => 'no combination';

# What an example needs besides the modules that every test loads.
my %needs = (
    'conf/examples/filter.conf' => [qw(proxy proxy_http remoteip)],
    'conf/examples/proxy.conf'  => [qw(proxy proxy_http)],
);

my %test_of = (
    conf  => \&loads,
    json  => sub { names_metrics_that_exist($_[0], queries_of_panels($_[0])) },
    yml   => sub { $_[0] =~ /prometheus/ ? names_metrics_that_exist($_[0], queries_of_rules($_[0]))
                                         : asks_what_is_answered($_[0]) },
    ini   => \&is_a_drop_in,
    md    => sub { pass "$_[0]: 016-cookbook.t compares it with the files" },
    Dockerfile => \&builds_what_is_there,
    shtml => sub { pass "$_[0]: 520-error-page.t asks for it" },
);

# Messages of httpd -t; none but "Syntax OK" may come, and what is no warning.
sub complaints {
    my ($conf, @modules) = @_;
    # Enough workers for each of them: none is to be warned of.
    my $httpd = AdmissionTest::Httpd->new(combo => $combo, modules => \@modules, workers => 4000);

    # Defined by what includes quickstart.conf. That of the fleet says nothing without.
    mkdir "$httpd->{dir}/docs/htdocs";
    $httpd->configure("Define DEMO $httpd->{dir}/docs\n$conf");
    my ($status, $output) = $httpd->configtest;
    return join "\n", "status $status", grep { $_ ne 'Syntax OK' && !/\[admission:info\]/ } split /\n/, $output;
}

sub loads {
    my ($path) = @_;
    my @modules = @{ $needs{$path} // [] };
    my @absent = grep { !Admission::Config::is_installed($_) } @modules;

    SKIP: {
        skip "$path: mod_$absent[0] is not installed", 1 if @absent;
        my $file = "$FindBin::Bin/../../$path";
        is complaints(qq(Include "$file"\n), @modules), 'status 0', "$path loads";
    }
}

# Probes ask for a path that probes.conf has, or for a file.
sub asks_what_is_answered {
    my ($path) = @_;
    my @paths = slurp($path) =~ /^ +path: (\S+)$/mg;

    is_deeply [ grep { $_ !~ m{\.txt\z} && slurp('conf/examples/probes.conf') !~ m{"\Q$_\E"} }
                map { s/\?.*//r } @paths ], [], "$path: what it asks for is answered";
    is scalar @paths, 2, '... by two probes';
}

sub is_a_drop_in {
    my ($path) = @_;
    is_deeply [ grep { !/^(?:#.*|\[Service\]|(?:MemoryMax|MemorySwapMax|LimitNOFILE)=\w+|)$/ } lines($path) ],
        [], "$path: only lines that systemd knows";
}

# Its options are those of configure, its files those that make installs.
sub builds_what_is_there {
    my ($path) = @_;
    my $text = slurp($path);
    my $known = slurp('configure.ac') . join '', map { slurp($_) } files(qr/\.m4\z/, 'm4');

    is_deeply [ grep { $known !~ /\Q$_\E/ } $text =~ /--with(?:out)?-(\w+)/g ], [],
        "$path: configure knows the options";
    like $text, qr/^COPY --from=build \S+mod_admission\.so modules\/$/m, '... the module is copied';
}

# A panel that asks for a metric that is not there stays empty.
sub queries_of_panels {
    my ($path) = @_;
    return map { $_->{expr} } map { @{ $_->{targets} } } @{ decode_json(slurp($path))->{panels} };
}

# In one line behind "expr:", or in those that follow and are indented more.
sub queries_of_rules {
    my ($path) = @_;
    return slurp($path) =~ /^ {8}expr: (.*\n(?: {10}.*\n)*)/mg;
}

sub names_metrics_that_exist {
    my ($path, @queries) = @_;
    my %exists = map { $_ => 1 }
        map({ metric_of($_) } fields_of('zone'), fields_of('server')),
        map { "admission_${_}_duration_seconds_bucket" } qw(wait service);
    my @nothing = grep { !/\badmission_\w/ } @queries;

    ok @queries, "$path: there are queries";
    is_deeply \@nothing, [], '... with metrics';
    is_deeply [ grep { !$exists{$_} } map { /\b(admission_\w+)/g } @queries ], [], '... that exist';
}

my @paths = files(qr//, 'conf');
ok @paths, 'there are files';
for my $path (@paths) {
    my ($kind) = $path =~ m{(?:\.|/)(\w+)\z};
    my $test = $test_of{ $kind // '' };

    $test ? $test->($path) : fail "$path: what is it for?";
}

# The configurations that a page shows: blocks that are marked so, and others that begin
# with a section or a directive. Lines with the same directive are alternatives.
sub configurations {
    my ($page) = @_;
    my $text = slurp($page);
    my @marked = $text =~ /^ *```apache\n(.*?)^ *```$/msg;

    $text =~ s/^( *)```.*?^\1```$//msg;
    my @others = grep { /^ {4}(?:<[A-Z]|(?:Max|Admission)[A-Z]\w+ (?!x )|LoadModule |LogFormat |Options )/ }
                 $text =~ /(?:^|\n\n)((?: {4}.*\n|\n(?= {4}))+)/g;
    return @marked, map { my ($first) = /^ {4}(Admission\w+ )/;
                          $first && !/^ {4}(?!$first)/m ? split(/^/, $_) : $_ } @others;
}

# With every module that one of them may need, and a limit, since a directive without any has
# no effect. Files that it names are not there.
sub blocks_load {
    my ($page) = @_;
    my @blocks = grep { !/(?:password-file|tls)=/ } configurations($page);
    my @modules = grep { Admission::Config::is_installed($_) }
                  qw(auth_basic authn_core authn_file authz_user log_config proxy proxy_fcgi proxy_http);
    my $directory = dirname(Cwd::abs_path($ENV{ADMISSION_MODULE}));

    for my $n (1 .. @blocks) {
        my $conf = $blocks[$n - 1];
        my ($module) = $conf =~ s{^( *LoadModule \w+ )modules/}{$1$directory/}m
            ? $conf =~ m{^ *LoadModule \w+ (\S+)}m : $conf =~ /^ *AdmissionEngine/m
            ? "$directory/mod_admission_redis.so" : ();
        $conf = "LoadModule admission_redis_module $module\n$conf" if $module && $conf !~ /LoadModule/;
        $conf .= "<Location /limit>\nMaxConcurrent 4\n</Location>\n" if $conf !~ /MaxConcurrent/;
        SKIP: {
            skip "$page: mod_proxy_http is not installed", 1 if $conf =~ /ProxyPass/ && @modules < 8;
            skip "$page: number $n needs mod_admission_redis", 1 if $module && !-e $module;
            is complaints($conf, @modules), 'status 0', "$page: number $n loads";
        }
    }
}

blocks_load($_) for grep { configurations($_) } 'README.md', files(qr/\.md\z/, 'docs/manual'),
                                                map { "docs/$_.md" } qw(guide limitations migrating operations);

# In conf/admission.conf every line is a comment. Each directive there is right
# in its place.
my ($of_sections, $of_server) = map { [ /^#((?:Max|Admission)\w+ .*)$/mg ] }
    split /^# -+ for the whole server only.*$/m, slurp('conf/admission.conf'), 2;
cmp_ok scalar @$_, '>', 2, 'there are directives' for $of_sections, $of_server;
my $number = 0;
is complaints(join '', map { "<Location /" . $number++ . ">\n$_\n</Location>\n" }
                       map { /^MaxConcurrent/ ? $_ : "MaxConcurrent 4\n$_" } @$of_sections),
    'status 0', 'the directives of sections load';
# Its module may not be built; 701-fleet-config.t has it.
@$of_server = grep { !/^AdmissionEngine/ } @$of_server;
is complaints(join '', map { "$_\n" } @$of_server), 'status 0', 'the directives of the server load';
