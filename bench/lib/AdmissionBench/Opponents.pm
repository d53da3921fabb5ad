package AdmissionBench::Opponents;

# Competitors of mod_admission in httpd: no module, or mod_qos; and the configuration of
# mod_admission in the comparison.

use strict;
use warnings;

use Exporter 'import';

use Admission;
use Admission::Config;

our @EXPORT_OK = qw(counted_conf elsewhere_conf plain_httpd qos_conf qos_serialize_conf);

# As start_httpd(), without mod_admission. Its log is not checked.
sub plain_httpd { return start_httpd(@_, admission => 0)->allow_in_log(qr/./) }

# The directives are in another section than the requested URL. A section itself has a
# cost: without a limit, use elsewhere_conf('Options None').
sub elsewhere_conf {
    my $directives = join "\n", @_;
    return "LogLevel warn\nMaxKeepAliveRequests 0\n<Location /cgi-bin/>\n$directives\n</Location>\n";
}

# All requests count.
sub counted_conf {
    my ($limit, $queue) = @_;
    return <<"CONF";
LogLevel warn
MaxKeepAliveRequests 0
<Location />
    MaxConcurrent $limit
    AdmissionQueue $queue
    AdmissionHandlers all
</Location>
CONF
}

# Loads mod_qos; with a regular expression for URLs and a number, at most that many of
# these requests run concurrently. mod_qos rejects the others.
sub qos_conf {
    my ($match, $limit) = @_;
    my $conf = pcre() . Admission::Config::load_line('qos');

    $conf .= qq(QS_LocRequestLimitMatch "$match" $limit\n) if defined $match;
    return $conf;
}

# mod_qos may rely on httpd to load the old PCRE, which httpd no longer does.
sub pcre {
    my ($path) = `PATH="\$PATH:/sbin" ldconfig -p 2>/dev/null` =~ m{ => (\S+/libpcre\.so\.3)$}m
        or return '';
    return qq(LoadFile "$path"\n);
}

# One request for these URLs runs at a time, and the others wait: the only queue of
# mod_qos.
sub qos_serialize_conf {
    my ($match, $seconds) = @_;

    return qos_conf() . <<"CONF";
QS_SrvSerialize on @{[ $seconds // 300 ]}
SetEnvIf Request_URI "$match" QS_SrvSerialize=yes
CONF
}

1;
