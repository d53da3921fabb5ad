# What the packages say of the module is what the module says of itself.

use Project;

my ($version) = slurp('configure.ac') =~ /^AC_INIT\(\[mod_admission\], \[(.+?)\]/m;

ok $version, 'configure.ac has a version';
is +(slurp('debian/changelog') =~ /\((.+?)\)/)[0], $version =~ tr/-/~/r, 'debian has the same';
unlike slurp('packaging/mod_admission.spec'), qr/^Version:.*\d/m, 'the spec asks for it';
is +(slurp('CHANGES') =~ /^Changes with mod_admission (\S+)/m)[0], $version,
    'CHANGES begins with the same';

my @needed = map { /^build\s+\S+\s+\S+\s+(\S+)$/ ? $1 : () } lines('tools/deps');
cmp_ok scalar @needed, '>', 5, 'tools/deps lists what a build needs';
my ($requires) = slurp('packaging/mod_admission.spec') =~ /^((?:BuildRequires:.*\n)+)/m;
none 'what a build needs, the spec requires, but for what every system has',
    grep { !/^(?:glibc-devel|findutils|diffutils|tar)$/ && $requires !~ /^BuildRequires:\s*\Q$_\E$/m }
    @needed;
