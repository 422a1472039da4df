import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A probe for the timers of Java 8 and later; see docs/probe-protocol.md. */
public final class Probe {
    static final int MOST = 100000, MOST_THREADS = 64;

    /** A timer. Each has loops of its own, so that the compiler sees one call in them. */
    abstract static class Timer {
        final String name, api, more;
        final double unitNs;
        long first;

        Timer(String name, String api, double unitNs, String more) {
            this.name = name;
            this.api = api;
            this.unitNs = unitNs;
            this.more = more;
        }

        abstract long read();

        abstract void reads(long[] into);

        abstract long calls(int batch);
    }

    static final String WALL = "\"kind\":\"wall\"", CALENDAR = WALL + ",\"calendar\":true,\"settable\":true";
    static final String THREAD = "\"kind\":\"cpu\",\"scope\":\"thread\"", PROCESS = "\"kind\":\"cpu\",\"scope\":\"process\"";

    static final class NanoTime extends Timer {
        NanoTime() { super("System.nanoTime", "System.nanoTime()", 1, WALL); }
        long read() { return System.nanoTime(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = System.nanoTime(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= System.nanoTime(); return t; }
    }

    static final class Millis extends Timer {
        Millis() { super("System.currentTimeMillis", "System.currentTimeMillis()", 1e6, CALENDAR); }
        long read() { return System.currentTimeMillis(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = System.currentTimeMillis(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= System.currentTimeMillis(); return t; }
    }

    static final class Instants extends Timer {
        Instants() { super("Instant.now", "Instant.now()", 1, CALENDAR); }
        static long now() { Instant t = Instant.now(); return t.getEpochSecond() * 1000000000L + t.getNano(); }
        long read() { return now(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = now(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= now(); return t; }
    }

    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static final class ThreadCpu extends Timer {
        ThreadCpu() { super("ThreadMXBean.getCurrentThreadCpuTime", "ThreadMXBean.getCurrentThreadCpuTime()", 1, THREAD); }
        long read() { return THREADS.getCurrentThreadCpuTime(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = THREADS.getCurrentThreadCpuTime(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= THREADS.getCurrentThreadCpuTime(); return t; }
    }

    static final class ThreadUser extends Timer {
        ThreadUser() { super("ThreadMXBean.getCurrentThreadUserTime", "ThreadMXBean.getCurrentThreadUserTime()", 1, THREAD); }
        long read() { return THREADS.getCurrentThreadUserTime(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = THREADS.getCurrentThreadUserTime(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= THREADS.getCurrentThreadUserTime(); return t; }
    }

    /** Apart, since not every runtime has this interface. */
    static final class ProcessCpu extends Timer {
        static final com.sun.management.OperatingSystemMXBean SYSTEM =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

        ProcessCpu() { super("OperatingSystemMXBean.getProcessCpuTime", "com.sun.management.OperatingSystemMXBean.getProcessCpuTime()", 1, PROCESS); }
        long read() { return SYSTEM.getProcessCpuTime(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = SYSTEM.getProcessCpuTime(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= SYSTEM.getProcessCpuTime(); return t; }
    }

    /** The counter of sun.misc.Perf, which lies in jdk.internal.perf since Java 9. */
    static final class Counter extends Timer {
        static final MethodHandle READ;
        static final double UNIT_NS;
        static final String CLASS;

        static {
            try {
                Class<?> perf;
                try {
                    perf = Class.forName("jdk.internal.perf.Perf");
                } catch (ClassNotFoundException e) {
                    perf = Class.forName("sun.misc.Perf");
                }
                CLASS = perf.getName();
                Object it = perf.getMethod("getPerf").invoke(null);
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                MethodType type = MethodType.methodType(long.class);
                READ = lookup.findVirtual(perf, "highResCounter", type).bindTo(it);
                UNIT_NS = 1e9 / (long) lookup.findVirtual(perf, "highResFrequency", type).bindTo(it).invoke();
            } catch (Throwable e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        Counter() { super("Perf.highResCounter", CLASS + ".highResCounter()", UNIT_NS, "\"kind\":\"counter\""); }

        static long now() {
            try {
                return (long) READ.invokeExact();
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        long read() { return now(); }
        void reads(long[] v) { for (int i = 0; i < v.length; i++) v[i] = now(); }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= now(); return t; }
    }

    /** What stands for no timer. */
    static final class None extends Timer {
        None() { super("none", "", 1, ""); }
        long read() { return 0; }
        void reads(long[] v) { }
        long calls(int n) { long t = 0; for (int i = 0; i < n; i++) t ^= i; return t; }
    }

    static final List<Timer> TIMERS = new ArrayList<Timer>();
    static final Timer NONE = new None();
    static volatile long sink;
    static String warmup;

    static void add(Supplier<Timer> make) {
        try {
            Timer t = make.get();
            t.first = t.read();
            TIMERS.add(t);
        } catch (LinkageError e) {
            // this runtime does not have it
        } catch (RuntimeException e) {
            // nor lets it be used
        }
    }

    static long spin(long rounds) {
        long x = sink;
        for (long i = 0; i < rounds; i++) x = x * 6364136223846793005L + 1;
        return x;
    }

    static boolean interprets() { return System.getProperty("java.vm.info", "").contains("interpreted"); }

    static void warmUp() {
        if (interprets()) {
            warmup = "none: it interprets (-Xint)";
            return;
        }
        long begin = System.nanoTime(), calls = 0;
        long[] into = new long[256], pairs = new long[256];
        for (Timer t : TIMERS) {
            long until = System.nanoTime() + 60000000L;
            for (int i = 0; i < 60 || i < 400 && System.nanoTime() < until; i++) {
                t.reads(into);
                pair(t, 10, pairs);
                for (int j = 0; j < 50; j++) sink = t.calls(1);
                sink = t.calls(64) ^ NONE.calls(64);
                calls += 626;
            }
        }
        warmup = calls + " calls of the timers, " + (System.nanoTime() - begin) / 1000000 + " ms";
    }

    static Timer named(String name) {
        for (Timer t : TIMERS) if (t.name.equals(name)) return t;
        throw new IllegalArgumentException("there is no timer " + name);
    }

    static int count(String text, int most) {
        int n = Integer.parseInt(text);
        if (n < 1 || n > most) throw new IllegalArgumentException("from 1 to " + most + " can be asked for");
        return n;
    }

    static String hello() {
        StringBuilder b = new StringBuilder("{\"protocol\":1,\"runtime\":\"").append(interprets() ? "java-Xint" : "java");
        b.append("\",\"version\":\"").append(System.getProperty("java.version")).append(", ");
        b.append(System.getProperty("java.vm.name")).append(", ").append(System.getProperty("java.vm.info"));
        b.append("\",\"warmup\":\"").append(warmup).append("\",\"timers\":[");
        String comma = "";
        for (Timer t : TIMERS) {
            b.append(comma).append("{\"name\":\"").append(t.name).append("\",\"api\":\"").append(t.api);
            b.append("\",\"unit_ns\":").append(t.unitNs).append(",").append(t.more).append("}");
            comma = ",";
        }
        return b.append("]}").toString();
    }

    static String words(long[] v, long first, int each) {
        StringBuilder b = new StringBuilder(12 * v.length);
        for (int i = 0; i < v.length; i++) {
            if (i > 0) b.append(i % each == 0 ? ' ' : ',');
            b.append(v[i] - first);
        }
        return b.toString();
    }

    static String reads(Timer t, int n) {
        long[] v = new long[n];
        t.reads(v);
        return words(v, t.first, 1);
    }

    static void pair(Timer t, long work, long[] v) {
        for (int i = 0; i < v.length; i += 2) {
            v[i] = t.read();
            sink = spin(work);
            v[i + 1] = t.read();
        }
    }

    static String pairs(Timer t, long work, int n) {
        long[] v = new long[2 * n];
        pair(t, work, v);
        return words(v, t.first, 2);
    }

    static String cost(Timer t, Timer reference, int batch, int n) {
        long[] v = new long[n];
        for (int i = 0; i < n; i++) {
            long begin = reference.read();
            long last = t.calls(batch);
            v[i] = reference.read() - begin;
            sink = last;
        }
        return words(v, 0, 1);
    }

    static volatile int turn;

    static String threads(final Timer t, final int many, final int n) throws InterruptedException {
        final long[] v = new long[2 * n];
        turn = 0;
        Thread[] players = new Thread[many];
        for (int p = 0; p < many; p++) {
            final int me = p;
            players[p] = new Thread() {
                public void run() {
                    for (int mine = me; mine < n; mine += many) {
                        while (turn != mine) Thread.yield();
                        v[2 * mine + 1] = t.read() - t.first;
                        v[2 * mine] = me;
                        turn = mine + 1;
                    }
                }
            };
            players[p].setDaemon(true);
            players[p].start();
        }
        for (Thread p : players) p.join();
        return words(v, 0, 2);
    }

    static String sandwich(Timer outer, Timer inner, String workload, int amount, int n) throws InterruptedException {
        long[] v = new long[2 * n];
        for (int i = 0; i < v.length; i += 2) {
            long a = outer.read(), b = inner.read();
            if (workload.equals("sleep")) Thread.sleep(amount);
            else sink = spin(amount);
            v[i + 1] = inner.read() - b;
            v[i] = outer.read() - a;
        }
        return words(v, 0, 2);
    }

    static String answer(String[] w) {
        try {
            switch (w[0]) {
                case "hello": return hello();
                case "reads": return reads(named(w[1]), count(w[2], MOST));
                case "pairs": return pairs(named(w[1]), Long.parseLong(w[2]), count(w[3], MOST));
                case "cost":
                    return cost(w[1].equals("none") ? NONE : named(w[1]), named(w[2]), Integer.parseInt(w[3]), count(w[4], MOST));
                case "threads": return threads(named(w[1]), count(w[2], MOST_THREADS), count(w[3], MOST));
                case "sandwich":
                    return sandwich(named(w[1]), named(w[2]), w[3], Integer.parseInt(w[4]), count(w[5], MOST));
                default: return "error there is no command " + w[0];
            }
        } catch (Exception e) {
            return "error " + e.toString().replaceAll("\\s+", " ");
        }
    }

    static String line(InputStream in) throws IOException {
        StringBuilder b = new StringBuilder();
        for (int c = in.read(); c >= 0; c = in.read()) {
            if (c == '\n') return b.toString().trim();
            b.append((char) c);
        }
        return "quit";
    }

    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(System.out, false, "US-ASCII");
        add(NanoTime::new);
        add(Millis::new);
        add(Instants::new);
        add(Counter::new);
        add(ThreadCpu::new);
        add(ThreadUser::new);
        add(ProcessCpu::new);
        warmUp();
        for (String line = line(System.in); !line.equals("quit"); line = line(System.in)) {
            byte[] bytes = (answer(line.split("\\s+")) + "\n").getBytes(StandardCharsets.US_ASCII);
            out.write(bytes, 0, bytes.length);
            out.flush();
        }
        System.exit(0);
    }
}
