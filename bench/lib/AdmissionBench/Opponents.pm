package AdmissionBench::Opponents;

# What mod_admission is compared with in httpd: none of it, or mod_qos; and how it is
# configured beside that.

use strict;
use warnings;

use Exporter 'import';

use Admission;
use Admission::Config;

our @EXPORT_OK = qw(counted_conf elsewhere_conf plain_httpd qos_conf qos_serialize_conf);

# As start_httpd(), without mod_admission. What it says in its log is its own
# affair.
sub plain_httpd { return start_httpd(@_, admission => 0)->allow_in_log(qr/./) }

# The directives are for another section than what is asked for. Sections cost something
# by themselves: without a limit it is elsewhere_conf('Options None').
sub elsewhere_conf {
    my $directives = join "\n", @_;
    return "LogLevel warn\nMaxKeepAliveRequests 0\n<Location /cgi-bin/>\n$directives\n</Location>\n";
}

# Everything counts.
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

# Loads mod_qos; with a regular expression for URLs and a number, these run at
# most so many at once. It rejects the others.
sub qos_conf {
    my ($match, $limit) = @_;
    my $conf = pcre() . Admission::Config::load_line('qos');

    $conf .= qq(QS_LocRequestLimitMatch "$match" $limit\n) if defined $match;
    return $conf;
}

# mod_qos may leave it to httpd to have brought the old PCRE, which httpd has
# given up.
sub pcre {
    my ($path) = `PATH="\$PATH:/sbin" ldconfig -p 2>/dev/null` =~ m{ => (\S+/libpcre\.so\.3)$}m
        or return '';
    return qq(LoadFile "$path"\n);
}

# Of these URLs one runs at a time, and the others wait: the only line that
# mod_qos has.
sub qos_serialize_conf {
    my ($match, $seconds) = @_;

    return qos_conf() . <<"CONF";
QS_SrvSerialize on @{[ $seconds // 300 ]}
SetEnvIf Request_URI "$match" QS_SrvSerialize=yes
CONF
}

1;
