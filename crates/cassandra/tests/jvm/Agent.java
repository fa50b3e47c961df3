import java.lang.instrument.Instrumentation;

/** Proves that it was loaded by what it leaves in the system properties. */
public final class Agent {
    public static void agentmain(String options, Instrumentation instrumentation) {
        if (options.startsWith("fail")) {
            throw new IllegalStateException("as asked");
        }
        System.setProperty("agent.loads", Integer.toString(Integer.getInteger("agent.loads", 0) + 1));
        System.setProperty("agent.options", options);
        Thread late = new Thread(Agent::late);
        late.setDaemon(true);
        late.start();
    }

    /** Loads a class after agentmain has returned, when the jar's file is removed. */
    private static void late() {
        try {
            Thread.sleep(1000);
        } catch (InterruptedException e) {
            return;
        }
        System.setProperty("agent.late", Late.word());
    }

    static final class Late {
        static String word() {
            return "loaded";
        }
    }
}
