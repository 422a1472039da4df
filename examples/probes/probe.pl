#!/usr/bin/perl
# A probe for the timers of Perl, as an example: chronoscope clocks --probe 'perl probe.pl'
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());

# Name, what reads it, unit in nanoseconds, and the rest of its description.
my @timers = (
    ['Time::HiRes::time', \&Time::HiRes::time, 1e9, '"kind":"wall","calendar":true,"settable":true'],
    ['clock_gettime(CLOCK_MONOTONIC)', sub { clock_gettime(CLOCK_MONOTONIC) }, 1e9, '"kind":"wall"'],
    ['clock_gettime(CLOCK_PROCESS_CPUTIME_ID)', sub { clock_gettime(CLOCK_PROCESS_CPUTIME_ID) }, 1e9, '"kind":"cpu"'],
    ['time', sub { time }, 1e9, '"kind":"wall","calendar":true,"settable":true'],
    ['POSIX::times', sub { my (undef, $user, $system) = POSIX::times(); $user + $system }, 1e9 / $ticks, '"kind":"cpu"'],
);
my %read  = map { $_->[0] => $_->[1] } @timers;
my %first = map { $_ => $read{$_}->() } keys %read;

sub spin { my $x = 1; $x = ($x * 5 + 1) & 0xffff for 1 .. $_[0]; return $x }

sub number {
    my ($n, $least, $most) = @_;
    die "$n is no number from $least to $most\n" unless $n =~ /^\d+$/ && $n >= $least && $n <= $most;
    return $n;
}
sub reader { $read{$_[0]} // die "there is no timer $_[0]\n" }
sub since { my $first = $first{+shift}; map { sprintf '%.17g', $_ - $first } @_ }

sub hello {
    return sprintf '{"protocol":1,"runtime":"perl","version":"%vd","warmup":"none: it interprets","timers":[%s]}', $^V,
        join ',', map { sprintf '{"name":"%s","unit_ns":%.17g,%s}', @$_[0, 2, 3] } @timers;
}

sub reads {
    my ($name, $n) = @_;
    my ($read, @taken) = reader($name);
    push @taken, $read->() for 1 .. number($n, 1, 100_000);
    return join ' ', since($name, @taken);
}

sub pairs {
    my ($name, $work, $n) = @_;
    my ($read, @taken) = reader($name);
    for (1 .. number($n, 1, 100_000)) {
        push @taken, $read->();
        spin($work) if $work;
        push @taken, $read->();
    }
    my @values = since($name, @taken);
    return join ' ', map { "$values[2 * $_],$values[2 * $_ + 1]" } 0 .. $n - 1;
}

sub cost {
    my ($name, $reference, $batch, $n) = @_;
    my $now = reader($reference);
    my $read = $name eq 'none' ? undef : reader($name);
    number($batch, 0, 100_000);
    my @taken;
    for (1 .. number($n, 1, 100_000)) {
        my $begin = $now->();
        if ($read) { for (1 .. $batch) { $read->() } }
        else       { for (1 .. $batch) { } }
        push @taken, $now->() - $begin;
    }
    return join ' ', map { sprintf '%.17g', $_ } @taken;
}

sub sandwich {
    my ($reference, $name, $workload, $amount, $n) = @_;
    my ($outer, $inner, @taken) = (reader($reference), reader($name));
    for (1 .. number($n, 1, 100_000)) {
        my ($a, $b) = ($outer->(), $inner->());
        if ($workload eq 'sleep') { Time::HiRes::usleep(1000 * $amount) }
        else                      { spin($amount) }
        my $c = $inner->();
        push @taken, sprintf '%.17g,%.17g', $outer->() - $a, $c - $b;
    }
    return join ' ', @taken;
}

my %commands = (hello => \&hello, reads => \&reads, pairs => \&pairs, cost => \&cost,
    sandwich => \&sandwich, threads => sub { 'unsupported' });

$| = 1;
while (my $line = <STDIN>) {
    my ($command, @rest) = split ' ', $line;
    last if ($command // '') eq 'quit';
    my $answer = eval { ($commands{$command // ''} // die "there is no such command\n")->(@rest) };
    $answer = "error $@" unless defined $answer;
    $answer =~ s/\s*\n\s*/ /g;
    print "$answer\n";
}
