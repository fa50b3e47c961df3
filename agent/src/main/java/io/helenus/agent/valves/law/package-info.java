/**
 * The control laws of the adaptive valves: each takes the measurements of a window of time and
 * decides the limit of the next. Pure logic: no threads, no clock, no dependency on the
 * enforcement.
 *
 * <pre>
 *   Law law = Laws.of("throughput", Map.of("gain", "0.05"), 1, 128);
 *   limit = 128
 *   for ever:
 *     let law.windowNs() pass with that limit
 *     decision = law.next(what happened in it)
 *     limit = decision.limit; record decision.reason
 * </pre>
 *
 * <p>A valve starts with the largest limit, which is what holds without a valve. Its windows follow
 * one another without gaps. A window of another limit than the law's last is left out.
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
 * <p>The second and third differ in their {@link io.helenus.agent.valves.law.Objective} only:
 * {@link io.helenus.agent.valves.law.Search} has the formula by which both search.
 */
package io.helenus.agent.valves.law;
