import type { Client, Load, Target } from './lean-client.ts'
import { fixed, whole } from './measure.ts'
import { cpuOf } from './processes.ts'

/** Requests of the client, and the process whose CPU is measured; absent: only Elasticsearch is. */
export type TargetRun = { readonly name: string; readonly target: Target; readonly pid?: number }

/** Figures of one target under one load; CPU in milliseconds per request, user and system; undefined: unknown. */
export type Figures = Load & {
  readonly name: string
  readonly serviceCpu: number | undefined
  readonly elasticCpu: number | undefined
}

export type Turns = {
  readonly client: Client
  readonly clients: number
  /** Seconds of each turn. */
  readonly seconds: number
  /** Maximum number of answers in a turn; absent: no limit. */
  readonly most?: number | undefined
  /** Number of turns of each target. */
  readonly rounds: number
  readonly elasticPid: number | undefined
}

/**
 * Measures all targets in turns, each round in the opposite order of the last, so that slow changes of the
 * machine affect all alike. For each, the round with the most requests per second counts: other work on the
 * machine can only slow requests down.
 */
export const inTurns = async (all: readonly TargetRun[], turns: Turns): Promise<readonly Figures[]> => {
  const best = new Map<TargetRun, Figures>()
  for (let round = 0; round < turns.rounds; round++)
    for (const asked of round % 2 === 0 ? all : all.toReversed()) {
      const figures = await once(asked, turns)
      const known = best.get(asked)
      if (known === undefined || figures.perSecond > known.perSecond) best.set(asked, figures)
    }
  return all.flatMap(asked => best.get(asked) ?? [])
}

/** Maximum number of tries of a turn; after the last one, failed requests are reported. */
const TRIES = 5

/**
 * Runs a turn, and repeats it if requests failed: on a busy machine a service refuses some, and such a turn
 * gives no figures.
 */
const once = async (asked: TargetRun, turns: Turns): Promise<Figures> => {
  for (let tries = 1; ; tries++) {
    const figures = await turnOf(asked, turns)
    if (figures.failed === 0) return figures
    const { url, paths } = asked.target
    if (tries === TRIES) throw new Error(`${figures.failed} of ${figures.requests} requests failed: ${url}${paths[0]}`)
  }
}

const turnOf = async ({ name, target, pid }: TargetRun, turns: Turns): Promise<Figures> => {
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

/** Headings of the cells of `figureCells`. */
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
