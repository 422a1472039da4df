// A probe for the timers of .NET; see docs/probe-protocol.md.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Text;
using System.Threading;

// A timer. Each has loops of its own, so that the compiler sees one call in them.
abstract class Timer
{
    public readonly string Name, Api, More;
    public readonly double UnitNs;
    public long First;

    protected Timer(string name, string api, double unitNs, string more)
    {
        Name = name; Api = api; UnitNs = unitNs; More = more;
    }

    public abstract long Read();
    public abstract void Reads(long[] into);
    public abstract long Calls(int batch);

    public const string Wall = "\"kind\":\"wall\"";
    public const string Calendar = Wall + ",\"calendar\":true,\"settable\":true";
}

sealed class Watch : Timer
{
    public Watch() : base("Stopwatch", "Stopwatch.GetTimestamp()", 1e9 / Stopwatch.Frequency, Wall) { }
    public override long Read() { return Stopwatch.GetTimestamp(); }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = Stopwatch.GetTimestamp(); }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= Stopwatch.GetTimestamp(); return t; }
}

sealed class UtcNow : Timer
{
    public UtcNow() : base("DateTime.UtcNow", "DateTime.UtcNow.Ticks", 100, Calendar) { }
    public override long Read() { return DateTime.UtcNow.Ticks; }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = DateTime.UtcNow.Ticks; }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= DateTime.UtcNow.Ticks; return t; }
}

sealed class LocalNow : Timer
{
    // It is no calendar of UTC: it shows the time of this place, and steps at the change to summer time.
    public LocalNow() : base("DateTime.Now", "DateTime.Now.Ticks", 100, Wall + ",\"settable\":true") { }
    public override long Read() { return DateTime.Now.Ticks; }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = DateTime.Now.Ticks; }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= DateTime.Now.Ticks; return t; }
}

sealed class Count32 : Timer
{
    public Count32() : base("Environment.TickCount", "Environment.TickCount", 1e6, Wall) { }
    public override long Read() { return Environment.TickCount; }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = Environment.TickCount; }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= Environment.TickCount; return t; }
}

// Environment.TickCount64, which older runtimes lack.
sealed class Count64 : Timer
{
    static readonly Func<long> Now = (Func<long>)Delegate.CreateDelegate(
        typeof(Func<long>), typeof(Environment).GetProperty("TickCount64").GetGetMethod());

    public Count64() : base("Environment.TickCount64", "Environment.TickCount64", 1e6, Wall) { }
    public override long Read() { return Now(); }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = Now(); }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= Now(); return t; }
}

sealed class ProcessTime : Timer
{
    static readonly Process Me = Process.GetCurrentProcess();

    public ProcessTime() : base("Process.TotalProcessorTime", "Process.TotalProcessorTime, refreshed", 100, "\"kind\":\"cpu\",\"scope\":\"process\"") { }
    static long Now() { Me.Refresh(); return Me.TotalProcessorTime.Ticks; }
    public override long Read() { return Now(); }
    public override void Reads(long[] v) { for (int i = 0; i < v.Length; i++) v[i] = Now(); }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= Now(); return t; }
}

// What stands for no timer.
sealed class NoTimer : Timer
{
    public NoTimer() : base("none", "", 1, "") { }
    public override long Read() { return 0; }
    public override void Reads(long[] v) { }
    public override long Calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= i; return t; }
}

static class Probe
{
    const int Most = 100000, MostThreads = 64;
    static readonly List<Timer> timers = new List<Timer>();
    static readonly Timer none = new NoTimer();
    static long sink;
    static string warmup;

    static void Add(Func<Timer> make)
    {
        try
        {
            Timer t = make();
            t.First = t.Read();
            timers.Add(t);
        }
        catch (Exception)
        {
            // this runtime does not have it, or does not let it be used
        }
    }

    static long Spin(long rounds)
    {
        ulong x = (ulong)sink;
        for (long i = 0; i < rounds; i++) x = x * 6364136223846793005UL + 1;
        return (long)x;
    }

    static void WarmUp()
    {
        Stopwatch watch = Stopwatch.StartNew();
        long calls = 0;
        long[] into = new long[256];
        foreach (Timer t in timers)
        {
            long until = watch.ElapsedMilliseconds + 60;
            for (int i = 0; i < 60 && watch.ElapsedMilliseconds < until; i++)
            {
                t.Reads(into);
                Pair(t, 10, into);
                for (int j = 0; j < 50; j++) sink = t.Calls(1);
                sink = t.Calls(64) ^ none.Calls(64);
                calls += 626;
            }
        }
        warmup = calls + " calls of the timers, " + watch.ElapsedMilliseconds + " ms";
    }

    static Timer Named(string name)
    {
        foreach (Timer t in timers) if (t.Name == name) return t;
        throw new ArgumentException("there is no timer " + name);
    }

    static int Count(string text, int most)
    {
        int n = int.Parse(text, CultureInfo.InvariantCulture);
        if (n < 1 || n > most) throw new ArgumentException("from 1 to " + most + " can be asked for");
        return n;
    }

    // The name of the runtime, and its version.
    static string[] Runtime()
    {
        Type mono = Type.GetType("Mono.Runtime");
        if (mono == null) return new string[] { "coreclr", Environment.Version.ToString() };
        MethodInfo name = mono.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return new string[] { "dotnet", "Mono " + (name == null ? Environment.Version.ToString() : name.Invoke(null, null)) };
    }

    static string Hello()
    {
        string[] runtime = Runtime();
        StringBuilder b = new StringBuilder();
        b.AppendFormat("{{\"protocol\":1,\"runtime\":\"{0}\",\"version\":\"{1}\",\"warmup\":\"{2}\",\"timers\":[", runtime[0], runtime[1], warmup);
        string comma = "";
        foreach (Timer t in timers)
        {
            b.Append(comma);
            b.AppendFormat(CultureInfo.InvariantCulture, "{{\"name\":\"{0}\",\"api\":\"{1}\",\"unit_ns\":{2:R},{3}}}", t.Name, t.Api, t.UnitNs, t.More);
            comma = ",";
        }
        return b.Append("]}").ToString();
    }

    static string Words(long[] v, long first, int each)
    {
        StringBuilder b = new StringBuilder(12 * v.Length);
        for (int i = 0; i < v.Length; i++)
        {
            if (i > 0) b.Append(i % each == 0 ? ' ' : ',');
            b.Append(v[i] - first);
        }
        return b.ToString();
    }

    static string Reads(Timer t, int n)
    {
        long[] v = new long[n];
        t.Reads(v);
        return Words(v, t.First, 1);
    }

    static void Pair(Timer t, long work, long[] v)
    {
        for (int i = 0; i + 1 < v.Length; i += 2)
        {
            v[i] = t.Read();
            sink = Spin(work);
            v[i + 1] = t.Read();
        }
    }

    static string Pairs(Timer t, long work, int n)
    {
        long[] v = new long[2 * n];
        Pair(t, work, v);
        return Words(v, t.First, 2);
    }

    static string Cost(Timer t, Timer reference, int batch, int n)
    {
        long[] v = new long[n];
        for (int i = 0; i < n; i++)
        {
            long begin = reference.Read();
            long last = t.Calls(batch);
            v[i] = reference.Read() - begin;
            sink = last;
        }
        return Words(v, 0, 1);
    }

    static int turn;

    static string Threads(Timer t, int many, int n)
    {
        long[] v = new long[2 * n];
        turn = 0;
        Thread[] players = new Thread[many];
        for (int p = 0; p < many; p++)
        {
            int me = p;
            players[p] = new Thread(() =>
            {
                for (int mine = me; mine < n; mine += many)
                {
                    while (Volatile.Read(ref turn) != mine) Thread.Yield();
                    v[2 * mine + 1] = t.Read() - t.First;
                    v[2 * mine] = me;
                    Volatile.Write(ref turn, mine + 1);
                }
            });
            players[p].IsBackground = true;
            players[p].Start();
        }
        foreach (Thread p in players) p.Join();
        return Words(v, 0, 2);
    }

    static string Sandwich(Timer outer, Timer inner, string workload, int amount, int n)
    {
        long[] v = new long[2 * n];
        for (int i = 0; i < v.Length; i += 2)
        {
            long a = outer.Read(), b = inner.Read();
            if (workload == "sleep") Thread.Sleep(amount);
            else sink = Spin(amount);
            v[i + 1] = inner.Read() - b;
            v[i] = outer.Read() - a;
        }
        return Words(v, 0, 2);
    }

    static string Answer(string[] w)
    {
        try
        {
            switch (w[0])
            {
                case "hello": return Hello();
                case "reads": return Reads(Named(w[1]), Count(w[2], Most));
                case "pairs": return Pairs(Named(w[1]), long.Parse(w[2]), Count(w[3], Most));
                case "cost": return Cost(w[1] == "none" ? none : Named(w[1]), Named(w[2]), int.Parse(w[3]), Count(w[4], Most));
                case "threads": return Threads(Named(w[1]), Count(w[2], MostThreads), Count(w[3], Most));
                case "sandwich": return Sandwich(Named(w[1]), Named(w[2]), w[3], int.Parse(w[4]), Count(w[5], Most));
                default: return "error there is no command " + w[0];
            }
        }
        catch (Exception e)
        {
            return "error " + e.Message.Replace('\r', ' ').Replace('\n', ' ');
        }
    }

    static void Main()
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        Add(() => new Watch());
        Add(() => new UtcNow());
        Add(() => new LocalNow());
        Add(() => new Count32());
        Add(() => new Count64());
        Add(() => new ProcessTime());
        WarmUp();
        Stream output = Console.OpenStandardOutput();
        for (string line = Console.In.ReadLine(); line != null; line = Console.In.ReadLine())
        {
            string[] words = line.Split(new char[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
            if (line.Trim() == "quit") break;
            byte[] bytes = Encoding.ASCII.GetBytes(Answer(words.Length == 0 ? new string[] { "" } : words) + "\n");
            output.Write(bytes, 0, bytes.Length);
            output.Flush();
        }
        Environment.Exit(0);
    }
}
