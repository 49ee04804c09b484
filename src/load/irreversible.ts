import { highestPossible } from '#chain/time.ts'
import type { Log } from '#failure/log.ts'
import type { BlockSource } from '#node/port.ts'

/** Looks in a row, a tenth of a second apart, after which a chain that does not go on is worth a line: a minute. */
const STILL = 600

/** Blocks accepted without a check while no block time is known. */
const FIRST_BLOCKS = 10_000

/** How far the load is: height, and time of that block in nanoseconds since 1970; −1 and absent before the first one. */
export type Loaded = { readonly height: number; readonly time: bigint | undefined }

/** The node's last irreversible block as it reports it now: it may go back, stand still, or be wrong once. */
export type Irreversible = {
  /** undefined: the reported height is not true at the moment; ask again. */
  look(loaded: Loaded, signal: AbortSignal): Promise<number | undefined>
}

/**
 * Accepts a last irreversible block beyond the checkpoint only when the node has that very block as irreversible: a bare
 * number may come from another node, a damaged one, or a chain that never existed. Earlier reports do not count. A node may
 * also make that block up, so the height may grow no faster than the chain could since the loaded block; from there the
 * node is asked again. Anything unusual is logged once.
 * @param now milliseconds since 1970
 */
export const irreversible = (
  node: Pick<BlockSource, 'chainInfo' | 'blockHash'>,
  log: Log,
  now: () => number = Date.now,
): Irreversible => {
  let last: number | undefined
  let still = 0
  let told: string | undefined
  /** Logs a message once, until there is another one or nothing unusual. */
  const tell = (message: string, fields: Readonly<Record<string, number>>): void => {
    if (told !== message) log('warn', message, fields)
    told = message
  }
  const noteStill = (lib: number): void => {
    still = lib === last ? still + 1 : 0
    last = lib
    if (still < STILL) told = undefined
    else tell("The node's last irreversible block does not advance.", { lib })
  }
  return {
    look: async ({ height: loaded, time }, signal) => {
      const { libBlock: lib, headBlock: head } = await node.chainInfo(signal)
      const most =
        time === undefined ? loaded + FIRST_BLOCKS : highestPossible({ height: loaded, time }, now())
      if (lib > loaded && (await node.blockHash(lib, signal)) === undefined) {
        tell('The node does not have the last irreversible block it reports; retrying.', {
          lib,
          head,
          loaded,
        })
        return undefined
      }
      if (lib > most) {
        tell('The node reports a last irreversible block that is too high for the age of the chain.', {
          lib,
          most,
        })
        return most
      }
      if (lib < loaded)
        tell("The node's last irreversible block is below the loaded height; waiting for the node.", {
          lib,
          loaded,
        })
      else noteStill(lib)
      return lib
    },
  }
}
