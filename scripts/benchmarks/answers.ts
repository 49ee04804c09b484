import type { Bench, StoreName } from './bench.ts'
import { clientsText, FIGURES, type Figures, figureCells, inTurns, ratio, type TargetRun } from './in-turns.ts'
import type { Kind } from './kinds.ts'
import { fixed, table, whole } from './measure.ts'
import { pathOf, type Side } from './sides.ts'

export type Asking = {
  readonly store: StoreName
  readonly sides: readonly Side[]
  readonly kinds: readonly Kind[]
  readonly floors: readonly TargetRun[]
}

const HEADING = ['what', 'of', ...FIGURES, 'p50 ÷ F1', '÷ F2', '÷ first', '/s of F2'] as const

/** Sends each kind of request to all sides in turns with the floors, with several numbers of clients. */
export const answersText = async (bench: Bench, asking: Asking): Promise<string> => {
  const { store, sides, kinds, floors } = asking
  const parts: string[] = []
  for (const kind of kinds) {
    const asked = Object.entries(kind.queries).flatMap(([name, queries]) =>
      sides.map(side => {
        const paths = queries.map(query => pathOf(side, query))
        return { name, side, target: { url: side.service.url, paths }, pid: side.service.pid }
      }),
    )
    for (const clients of kind.clients) {
      const all = await inTurns([...floors, ...asked], { ...bench, clients })
      const [f1, f2] = all
      const own = all.slice(floors.length)
      const rows = all.map((each, at) => {
        const side = asked[at - floors.length]?.side
        const first = own[(at - floors.length) % sides.length]
        return [
          each.name,
          side?.name ?? '',
          ...figureCells(each),
          ...[f1, f2, side === undefined ? undefined : first].map(other =>
            other === undefined ? '' : fixed(ratio(each.p50, other.p50)),
          ),
          `${whole(ratio(100 * each.perSecond, f2?.perSecond))} %`,
        ]
      })
      const what = `${store}, ${kind.name}, ${clientsText(clients)}`
      // The first side computes every answer.
      judge(bench, what, { kind, clients, f1, f2, pages: own.filter((_, at) => at % sides.length === 0) })
      parts.push(`${what}:`, table(HEADING, rows))
    }
  }
  return parts.join('\n\n')
}

type Judged = {
  readonly kind: Kind
  readonly clients: number
  readonly f1: Figures | undefined
  readonly f2: Figures | undefined
  /** Figures of one side: first, middle, last and random pages, or the other queries of the kind. */
  readonly pages: readonly Figures[]
}

const judge = (bench: Bench, what: string, { kind, clients, f1, f2, pages }: Judged): void => {
  const slowest = Math.max(...pages.map(({ p50 }) => p50))
  const [first] = pages
  const isPaged = pages.length > 1
  const isList = kind.clients.includes(64)
  if (clients === 1 && !isPaged)
    bench.judge({ promise: what, most: 2, unit: '× F1', measured: ratio(slowest, f1?.p50) })
  if (clients === 1 && isPaged)
    bench.judge({
      promise: `${what}: any depth`,
      most: isList ? 1.2 : 2,
      unit: '× its first page',
      measured: ratio(slowest, first?.p50),
    })
  if (clients === 1 && isList)
    bench.judge({
      promise: `${what}: slowest p50`,
      most: 2.5,
      unit: '× F2',
      measured: ratio(slowest, f2?.p50),
    })
  if (clients === 8 && isList) {
    const least = Math.min(...pages.map(({ perSecond }) => perSecond))
    bench.judge({
      promise: `${what}: least pages/s`,
      least: 40,
      unit: '% of F2',
      measured: ratio(100 * least, f2?.perSecond),
    })
  }
}
