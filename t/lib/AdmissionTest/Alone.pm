package AdmissionTest::Alone;

# A private httpd that sees nothing of what others do on the machine: how busy the
# processors are, how much memory is free, and who stalls for it stay as they were
# when it started. Tests run side by side. Where /proc cannot be covered, which needs
# root and a mount namespace, it sees the machine.

use Exporter 'import';

use AdmissionTest;

our @EXPORT = qw(start_alone);

# As start_httpd().
sub start_alone {
    my $httpd = new_httpd(@_);
    my @mounts;

    for my $path (grep { -e "/proc/$_" } qw(stat meminfo pressure/memory)) {
        my $copy = $path =~ tr{/}{-}r;
        $httpd->put("../$copy", $httpd->slurp("/proc/$path"));
        push @mounts, "mount --bind $httpd->{dir}/$copy /proc/$path";
    }
    my $mounts = join ' && ', @mounts;
    return $httpd->start if $> != 0 || system("unshare -m sh -c '$mounts' 2>/dev/null");
    return $httpd->behind("exec unshare -m sh -c '$mounts && exec \"\$@\"' sh")->start;
}

1;
