import type { Client, Load, Target } from './lean-client.ts'
import { fixed, whole } from './measure.ts'
import { cpuOf } from './processes.ts'

/** What a lean client asks, and the process whose CPU it takes; absent: that of Elasticsearch alone. */
export type Asked = { readonly name: string; readonly target: Target; readonly pid?: number }

/** Figures of one of them under one load; CPU in milliseconds a request, user and system; undefined: not known. */
export type Figures = Load & {
  readonly name: string
  readonly serviceCpu: number | undefined
  readonly elasticCpu: number | undefined
}

export type Turns = {
  readonly client: Client
  readonly clients: number
  /** Of each turn. */
  readonly seconds: number
  /** Answers after which a turn asks no more; absent: none. */
  readonly most?: number | undefined
  /** How often each has its turn. */
  readonly rounds: number
  readonly elasticPid: number | undefined
}

/**
 * All of them in turns, each round in the opposite order of the last, so that what drifts on the machine meets all alike.
 * Of each the round with the most requests a second counts: other work on the machine only slows down.
 */
export const inTurns = async (all: readonly Asked[], turns: Turns): Promise<readonly Figures[]> => {
  const best = new Map<Asked, Figures>()
  for (let round = 0; round < turns.rounds; round++)
    for (const asked of round % 2 === 0 ? all : all.toReversed()) {
      const figures = await once(asked, turns)
      const known = best.get(asked)
      if (known === undefined || figures.perSecond > known.perSecond) best.set(asked, figures)
    }
  return all.flatMap(asked => best.get(asked) ?? [])
}

/** How often a turn is repeated before its failed requests are the report's. */
const TRIES = 5

/** A busy machine's service refuses some requests: such a turn is no figure, so it is repeated. */
const once = async (asked: Asked, turns: Turns): Promise<Figures> => {
  for (let tries = 1; ; tries++) {
    const figures = await turnOf(asked, turns)
    if (figures.failed === 0) return figures
    const { url, paths } = asked.target
    if (tries === TRIES)
      throw new Error(`${figures.failed} of ${figures.requests} requests failed: ${url}${paths[0]}`)
  }
}

const turnOf = async ({ name, target, pid }: Asked, turns: Turns): Promise<Figures> => {
  const { client, clients, seconds, most, elasticPid } = turns
  const before = [await cpuOf(pid), await cpuOf(elasticPid)] as const
  const load = await client.load(target, { clients, seconds, most })
  const after = [await cpuOf(pid), await cpuOf(elasticPid)] as const
  const perRequest = (at: 0 | 1): number | undefined => {
    const [from, to] = [before[at], after[at]]
    return from === undefined || to === undefined ? undefined : (1_000 * (to - from)) / load.requests
  }
  return { ...load, name, serviceCpu: perRequest(0), elasticCpu: perRequest(1) }
}

/** Heads of what `figureCells` gives. */
export const FIGURES = ['p50 ms', 'p99 ms', '/s', 'CPU ms', 'of Elasticsearch'] as const
export const figureCells = (figures: Figures): readonly string[] => [
  fixed(figures.p50, 3),
  fixed(figures.p99),
  whole(figures.perSecond),
  cpuText(figures.serviceCpu),
  cpuText(figures.elasticCpu),
]

const cpuText = (ms: number | undefined): string => (ms === undefined ? '–' : fixed(ms, 3))

export const ratio = (measured: number, floor: number | undefined): number => measured / (floor ?? 1)
export const clientsText = (clients: number): string => `${clients} client${clients === 1 ? '' : 's'}`
