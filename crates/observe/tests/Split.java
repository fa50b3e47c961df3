import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Uses CPU time in two methods, 70 % in one and 30 % in the other, by its own CPU clock. */
public class Split {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(Split::work, "Worker-7");
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        // Runs until the other end of the pipe is closed.
        while (System.in.read() >= 0) {}
    }

    private static void work() {
        while (true) {
            seven(THREADS.getCurrentThreadCpuTime() + 7_000_000);
            three(THREADS.getCurrentThreadCpuTime() + 3_000_000);
        }
    }

    private static void seven(long until) {
        while (THREADS.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 20_000; i++) sink += i * 31L;
        }
    }

    private static void three(long until) {
        while (THREADS.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 20_000; i++) sink ^= i * 17L;
        }
    }
}
