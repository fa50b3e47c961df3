import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;

/** Shows that it was loaded by setting system properties. */
public final class Agent {
    public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
        if (options.startsWith("fail")) {
            throw new IllegalStateException("as asked");
        }
        if (options.startsWith("opens")) {
            open(options.substring(options.indexOf("jar=") + 4));
            return;
        }
        count("agent.loads");
        System.setProperty("agent.options", options);
        Thread late = new Thread(Agent::late);
        late.setDaemon(true);
        late.start();
    }

    private static void count(String property) {
        System.setProperty(property, Integer.toString(Integer.getInteger(property, 0) + 1));
    }

    /** Opens the jar late, like an agent that loads classes from it. */
    private static void open(String jar) throws IOException, InterruptedException {
        Thread.sleep(2);
        new JarFile(jar).close();
        count("agent.opened");
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
