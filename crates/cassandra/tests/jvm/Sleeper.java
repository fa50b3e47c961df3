/** A JVM to attach to: says that it is up, then waits to be killed. */
public final class Sleeper {
    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("up");
        Thread.sleep(Long.MAX_VALUE);
    }
}
