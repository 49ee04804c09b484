import { FIGURES, type Figures, figureCells, ratio } from '../in-turns.ts'
import { fixed, table, whole } from '../measure.ts'

/** Figures of one kind of request under one number of clients. */
export type Measured = {
  readonly store: string
  readonly kind: string
  readonly clients: number
  /** Absent: Elasticsearch is not asked. */
  readonly floors: readonly Figures[]
  readonly sides: readonly Figures[]
}

const HEADING = ['store', 'what', 'clients', 'of', ...FIGURES, 'p50 ÷ F2', '/s of F2'] as const

/** Of a machine that others would buy for it. */
const CORES = 16

export const quickTable = (all: readonly Measured[]): string => table(HEADING, all.flatMap(rowsOf))

const rowsOf = ({ store, kind, clients, floors, sides }: Measured): readonly (readonly string[])[] => {
  const f2 = floors.at(-1)
  const row = (what: string, of: string, figures: Figures): readonly string[] => [
    store,
    what,
    String(clients),
    of,
    ...figureCells(figures),
    f2 === undefined ? '' : fixed(ratio(figures.p50, f2.p50)),
    f2 === undefined ? '' : `${whole(ratio(100 * figures.perSecond, f2.perSecond))} %`,
  ]
  return [...floors.map(each => row(each.name, '', each)), ...sides.map(each => row(kind, each.name, each))]
}

/** What more cores would give: what one thread takes of a second, so many take as often. */
export const scalingText = (all: readonly Measured[]): string =>
  all
    .flatMap(({ store, kind, clients, sides }) =>
      sides.map(
        ({ name, perSecond, serviceCpu = 0 }) =>
          `- ${store}, ${kind}, ${clients} clients, ${name}: ${whole(perSecond)}/s here; ${CORES} cores for the service alone could take ${whole((CORES * 1_000) / serviceCpu)}/s.`,
      ),
    )
    .join('\n')
