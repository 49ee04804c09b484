import { highestPossible } from '#chain/highest-possible.ts'
import type { Log } from '#failure/log.ts'
import type { BlockSource } from '#node/port.ts'

/** Looks in a row, half a second apart, after which a chain that does not go on is worth a line: a minute. */
const STILL = 120

/** Blocks that are believed at once while no block's time is known. */
const FIRST_BLOCKS = 10_000

/** How far the load is: height, and time of that block in nanoseconds since 1970; −1 and absent before the first one. */
export type Loaded = { readonly height: number; readonly time: bigint | undefined }

/** The node's last irreversible block as it is now: it may go back, stand still, or be nonsense for once. */
export type Irreversible = {
  /** undefined: what the node says is not so at this moment; it is to be asked again. */
  look(loaded: Loaded, signal: AbortSignal): Promise<number | undefined>
}

/**
 * Believes a last irreversible block beyond what is loaded only when the node has that very block as an irreversible
 * one: a number alone may be of another node, of a damaged one, or of a chain that was never made. Nothing that was said
 * earlier counts. A node may make up that block too, so no more of its word is taken than there was time for since the
 * block that is loaded; from there it is asked again. What is unusual is logged once.
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
  /** The same thing again is no news. */
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
