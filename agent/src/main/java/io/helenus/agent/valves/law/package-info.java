/**
 * The control laws of the adaptive valves: from what was measured in one window of time to the
 * limit of the next. Pure logic: no threads, no clock, no dependency on what enforces the limit.
 *
 * <h2>How a law is used</h2>
 *
 * <pre>
 *   Law law = Laws.of("throughput", Map.of("gain", "0.05"), 1, 128);
 *   limit = 128
 *   for ever:
 *     let law.windowNs() pass with that limit
 *     decision = law.next(what happened in it)
 *     limit = decision.limit; write decision.reason down
 * </pre>
 *
 * <p>A valve starts with the largest limit, which is what holds without a valve. Its windows follow
 * one another without gaps. A window of another limit than the law said last is left out.
 *
 * <h2>Which there are</h2>
 *
 * <table>
 *   <caption>The laws by name</caption>
 *   <tr><td>{@code fixed}</td><td>the limit it is given</td></tr>
 *   <tr><td>{@code throughput}</td><td>{@link io.helenus.agent.valves.law.Throughput}: the most
 *       completed per second</td></tr>
 *   <tr><td>{@code response-time}</td><td>{@link io.helenus.agent.valves.law.ResponseTime}: the
 *       shortest mean or percentile at no less throughput than a floor</td></tr>
 *   <tr><td>{@code gradient2}</td><td>as published, to compare with</td></tr>
 * </table>
 *
 * <h2>How the first two search</h2>
 *
 * <p>{@link io.helenus.agent.valves.law.Search} goes step by step: learn what the limit that holds
 * does; go to another ({@link io.helenus.agent.valves.law.Route}); wait until the change shows no
 * more ({@link io.helenus.agent.valves.law.Settling}, and {@link io.helenus.agent.valves.law.Heap}
 * where collections take their time, which also tells a heap that has yet to fill); measure, back
 * and forth where one stretch does not tell ({@link io.helenus.agent.valves.law.Trial}); judge by
 * the ratio of the means and its error ({@link io.helenus.agent.valves.law.Difference}); move or go
 * back; and rest in the end ({@link io.helenus.agent.valves.law.Rest}). A search that has found a
 * limit ends after 12 s; what it has not tried by then is tried one at a time after a rest. A
 * window with a collection in it is left out ({@link io.helenus.agent.valves.law.Trust}); what
 * trying costs is bounded ({@link io.helenus.agent.valves.law.Budget}); another workload starts it
 * afresh ({@link io.helenus.agent.valves.law.Shift}), and so do many more clients ({@link
 * io.helenus.agent.valves.law.Crowd}).
 *
 * <p>Most servers do best without a limit. Therefore the burden of proof is on the limit: it is
 * taken only for a gain beyond doubt, and given up when no limit cannot be told from it. Trying a
 * lower limit is harmless while clients wait for their answers. Where they do not, requests pile
 * up; a trial ends as soon as that shows, and what piled up goes in by and by.
 *
 * <h2>What it cannot see</h2>
 *
 * <ul>
 *   <li>A gain smaller than the server's own drift: with a deviation of 10 % that lasts a second, a
 *       gain of 9 % is found in two minutes about every second time.
 *   <li>A better limit that comes up while nothing changes at the one that holds is found by
 *       exploring only, which grows rare: 8 s after the search at the soonest, or twelve times as
 *       long as the last trial took, then twice as long each time, to five minutes.
 *   <li>On a server that answers fewer than some 50 requests a second a search takes longer than 20
 *       s: each trial has to wait for the requests of before.
 *   <li>A peak far from the limits on the way down, behind a dip, is found by exploring, tens of
 *       seconds later.
 * </ul>
 */
package io.helenus.agent.valves.law;
