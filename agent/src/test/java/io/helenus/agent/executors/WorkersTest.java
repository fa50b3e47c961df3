package io.helenus.agent.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each accepted task is run once, while workers come and go. */
class WorkersTest {
  private static final int WORKERS = 4;
  private static final int GIVERS = 4;
  private static final int TASKS = 200_000;

  private final ThreadFactory threads = new WorkerThreads("Test", getClass().getClassLoader());

  static Stream<Supplier<TaskQueue>> queueings() {
    return Stream.of(
        () -> new BatchedDrain(16),
        () -> new BatchedDrain(1),
        () -> new QueuePerThread(WORKERS, false),
        () -> new QueuePerThread(WORKERS, true));
  }

  /** The workers are replaced all the time; the offering thread runs the tasks they don't take. */
  @ParameterizedTest
  @MethodSource("queueings")
  void noTaskIsLostOrRunTwice(Supplier<TaskQueue> queueing) throws Exception {
    AtomicIntegerArray runs = new AtomicIntegerArray(GIVERS * TASKS);
    AtomicReference<Workers> current = new AtomicReference<>(workers(queueing.get()));
    List<Thread> givers = new ArrayList<>();
    for (int giver = 0; giver < GIVERS; giver++) {
      int from = giver * TASKS;
      Thread thread =
          new Thread(
              () -> {
                for (int i = from; i < from + TASKS; i++) {
                  int number = i;
                  Runnable task = () -> runs.incrementAndGet(number);
                  if (!current.get().offer(task)) {
                    task.run();
                  }
                }
              });
      givers.add(thread);
      thread.start();
    }
    List<Workers> all = new ArrayList<>(List.of(current.get()));
    while (givers.stream().anyMatch(Thread::isAlive)) {
      Thread.sleep(2);
      Workers next = workers(queueing.get());
      all.add(next);
      current.getAndSet(next).close();
    }
    current.get().close();
    for (Workers workers : all) {
      assertTrue(workers.awaitEnd(30_000));
      assertEquals(0, workers.waiting());
    }
    for (int i = 0; i < runs.length(); i++) {
      assertEquals(1, runs.get(i), "task " + i);
    }
    assertTrue(all.stream().mapToLong(Workers::ran).sum() > 0);
  }

  /** Workers sleep and are woken all the time, without other help. */
  @ParameterizedTest
  @MethodSource("queueings")
  void noTaskWaitsForAWorkerThatSleeps(Supplier<TaskQueue> queueing) throws Exception {
    Workers workers = workers(queueing.get());
    List<Thread> givers = new ArrayList<>();
    AtomicIntegerArray inVain = new AtomicIntegerArray(GIVERS);
    for (int giver = 0; giver < GIVERS; giver++) {
      int number = giver;
      Thread thread =
          new Thread(
              () -> {
                Semaphore done = new Semaphore(0);
                for (int i = 0; i < TASKS / 10; i++) {
                  int together = 1 + i % 3;
                  for (int task = 0; task < together; task++) {
                    workers.offer(done::release);
                  }
                  if (!tryAcquire(done, together)) {
                    inVain.incrementAndGet(number);
                    return;
                  }
                }
              });
      givers.add(thread);
      thread.start();
    }
    for (Thread giver : givers) {
      giver.join();
    }
    for (int giver = 0; giver < GIVERS; giver++) {
      assertEquals(0, inVain.get(giver));
    }
    workers.close();
    assertTrue(workers.awaitEnd(10_000));
  }

  private static boolean tryAcquire(Semaphore done, int count) {
    try {
      return done.tryAcquire(count, 10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  private Workers workers(TaskQueue queueing) {
    return new Workers(WORKERS, queueing, threads);
  }

  @Test
  void aBatchIsWhatWaitsUpToABound() {
    BatchedDrain drain = new BatchedDrain(3);
    for (int i = 0; i < 4; i++) {
      drain.put(() -> {});
    }
    assertEquals(3, drain.take(0, new Runnable[3]));
    assertEquals(1, drain.take(1, new Runnable[3]));
    assertEquals(0, drain.take(1, new Runnable[3]));
  }

  /** One worker is busy: its next task waits for it, unless others may steal. */
  @Test
  void onlyThievesRunTheTasksOfABusyWorker() throws Exception {
    for (boolean stealing : new boolean[] {false, true}) {
      CountDownLatch busy = new CountDownLatch(1);
      Workers workers = new Workers(2, new QueuePerThread(2, stealing), threads);
      ConcurrentLinkedQueue<Integer> ran = new ConcurrentLinkedQueue<>();
      CountDownLatch allButOne = new CountDownLatch(stealing ? 3 : 1);
      assertTrue(workers.offer(() -> await(busy)));
      for (int i = 1; i < 4; i++) {
        int number = i;
        workers.offer(
            () -> {
              ran.add(number);
              allButOne.countDown();
            });
      }
      assertTrue(allButOne.await(10, TimeUnit.SECONDS));
      assertEquals(stealing, ran.contains(2));
      busy.countDown();
      workers.close();
      assertTrue(workers.awaitEnd(10_000));
      assertEquals(3, ran.size());
      assertEquals(4, workers.ran());
      assertFalse(workers.offer(() -> {}));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aTaskThatFailsHarmsNoOther() throws Exception {
    AtomicReference<Throwable> told = new AtomicReference<>();
    Workers workers =
        new Workers(
            1,
            new BatchedDrain(8),
            work -> {
              Thread thread = threads.newThread(work);
              thread.setUncaughtExceptionHandler((of, e) -> told.set(e));
              return thread;
            });
    CountDownLatch after = new CountDownLatch(1);
    RuntimeException mine = new IllegalStateException("mine");
    workers.offer(
        () -> {
          throw mine;
        });
    workers.offer(after::countDown);
    assertTrue(after.await(10, TimeUnit.SECONDS));
    assertEquals(mine, told.get());
    workers.close();
    assertTrue(workers.awaitEnd(10_000));
  }
}
