package io.helenus.agent.attached;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.List;
import javax.management.ObjectName;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;

/**
 * The JVM that the agent is attached to in tests. It executes commands from its standard input, and
 * answers each with lines that end with an empty one.
 */
final class Server {
  private Server() {}

  private static byte[][] kept = new byte[256][];

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready\n");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      switch (line) {
        case "gc":
          long before = System.nanoTime();
          System.gc();
          System.out.println(before + " " + System.nanoTime());
          break;
        case "allocate":
          for (int i = 0; i < 4_000; i++) {
            kept[i % kept.length] = new byte[100_000];
          }
          break;
        case "threads":
          Thread.getAllStackTraces().keySet().stream()
              .map(Thread::getName)
              .sorted()
              .forEach(System.out::println);
          break;
        case "recordings":
          for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            System.out.println(recording.getName() + " " + recording.getState());
          }
          break;
        case "event types":
          FlightRecorder.getFlightRecorder().getEventTypes().stream()
              .map(type -> type.getName())
              .filter(name -> name.startsWith("helenus"))
              .forEach(System.out::println);
          break;
        case "logs":
          command("vmLog", "list")
              .lines()
              .filter(log -> log.contains("helenus"))
              .forEach(System.out::println);
          break;
        case "listeners":
          System.out.println(listeners());
          break;
        case "classes":
          System.out.println(classes().strip());
          break;
        case "work":
          Work.begin();
          break;
        case "worked":
          System.out.println(Work.done() + " " + Work.failed());
          break;
        case "beans":
          for (ObjectName name :
              ManagementFactory.getPlatformMBeanServer()
                  .queryNames(new ObjectName("io.helenus:*"), null)) {
            System.out.println(name + " " + Work.attributes(name));
          }
          break;
        case "resident of another version":
          Work.registerResidentOfAnotherVersion();
          break;
        case "bytes":
          ClassBytes.files().forEach((name, file) -> System.out.println(name + " " + file));
          break;
        case "property":
          System.out.println(System.getProperty("helenus.agent.recorders", "none"));
          break;
        default:
          throw new IllegalArgumentException(line);
      }
      System.out.println();
    }
  }

  /** All classes that are loaded, as a tree. */
  private static String classes() throws Exception {
    return command("vmClassHierarchy");
  }

  private static String command(String name, String... arguments) throws Exception {
    ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
    String[] signature = {String[].class.getName()};
    return (String)
        ManagementFactory.getPlatformMBeanServer()
            .invoke(commands, name, new Object[] {arguments}, signature);
  }

  /** How many notification listeners the collectors have; needs --add-opens java.management. */
  private static int listeners() throws Exception {
    int count = 0;
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      for (Class<?> type = bean.getClass(); type != null; type = type.getSuperclass()) {
        for (Field field : type.getDeclaredFields()) {
          if (field.getName().equals("listenerList")) {
            field.setAccessible(true);
            count += ((List<?>) field.get(bean)).size();
          }
        }
      }
    }
    return count;
  }
}
