import { bytes, count, digits3, milliseconds, perSecond } from "../format";
import type { Report, Table } from "../model";
import type { ColourName } from "../theme";
import { LinePlot } from "./line-plot";
import { ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { groupedRows } from "./rows";
import { mean } from "./throughput";
import { aligned, binWidth } from "./window";

type Figure = "reads_per_s" | "writes_per_s" | "read_ms" | "write_ms" | "sstables" | "live_disk_bytes";

const FIGURES: { figure: Figure; title: string; unit: string; write(value: number): string }[] = [
  { figure: "writes_per_s", title: "Writes", unit: "1/s", write: perSecond },
  { figure: "reads_per_s", title: "Reads", unit: "1/s", write: perSecond },
  { figure: "write_ms", title: "Local write, mean", unit: "ms", write: milliseconds },
  { figure: "read_ms", title: "Local read, mean", unit: "ms", write: milliseconds },
  { figure: "sstables", title: "SSTables", unit: "count", write: count },
  { figure: "live_disk_bytes", title: "Live on disk", unit: "bytes", write: bytes },
];

/** The number of tables with a line; the others are in the table behind the chart. */
const DRAWN = 6;

/** Tables that were read or written, the busiest first. */
export function busyTables(tables: readonly Table[]): Table[] {
  const work = (table: Table): number => total(table.reads_per_s) + total(table.writes_per_s);
  return tables.filter((table) => work(table) > 0).sort((a, b) => work(b) - work(a));
}

function total(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

export function tablesPanel(report: Report): PanelBody {
  const busy = busyTables(report.tables);
  const drawn = busy.slice(0, DRAWN);
  const nodes = [...new Set(drawn.map(({ node }) => node))];
  return {
    note:
      busy.length > DRAWN
        ? `the ${DRAWN} busiest of ${busy.length} are drawn, all are in the table`
        : "as the node counts them",
    plots: nodes.flatMap((node, place) => plotsOf(node, drawn, nodes.length > 1, place === nodes.length - 1)),
    missing: busy.length === 0 ? whyMissing(report, ORIGINS.tables, "No table was read or written.") : null,
    summary: ({ window }) =>
      busy
        .map(
          (table) =>
            `${table.node} ${nameOf(table)}: ${perSecond(mean(table.writes_per_s, table.time_s, window))} writes, ${perSecond(mean(table.reads_per_s, table.time_s, window))} reads.`,
        )
        .join(" "),
    rows: ({ window }) =>
      groupedRows(
        busy,
        window,
        [
          { name: "node", of: ({ node }) => node },
          { name: "table", of: nameOf },
        ],
        FIGURES.map(({ figure, title, unit }) => ({
          name: title,
          unit,
          write: unit === "bytes" ? bytes : digits3,
          of: (table: Table) => table[figure],
        })),
      ),
  };
}

function nameOf({ keyspace, table }: Table): string {
  return `${keyspace}.${table}`;
}

/** The figures of one node that are not all zero, each with a line per table. */
function plotsOf(node: string, tables: readonly Table[], many: boolean, last: boolean): LinePlot[] {
  const own = tables.filter((table) => table.node === node);
  const time_s = own[0]?.time_s ?? [];
  const moved = FIGURES.filter(({ figure }) => own.some((table) => total(table[figure]) > 0));
  return moved.map(
    ({ figure, title, write }, place) =>
      new LinePlot({
        title: many ? `${title}, ${node}` : title,
        height: 52,
        time_s,
        bin_s: binWidth(time_s),
        axis: last && place === moved.length - 1,
        write,
        series: own.map((table, index) => {
          const values = aligned(table.time_s, table[figure], time_s, null);
          return {
            label: nameOf(table),
            colour: `group-${index + 1}` as ColourName,
            mark: "line",
            values: () => values,
          };
        }),
      }),
  );
}
