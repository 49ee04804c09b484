import { highestPossible } from '#chain/time.ts'
import type { Log } from '#failure/log.ts'
import type { BlockSource } from '#node/port.ts'

/** Consecutive looks, 0.1 s apart, after which a chain that does not advance is logged: a minute. */
const STILL = 600

/** Number of blocks accepted without a check of the chain's age, while no block time is known. */
const FIRST_BLOCKS = 10_000

/** Height and block time (nanoseconds since 1970) of the load; −1 and absent before the first block. */
export type LoadPosition = { readonly height: number; readonly time: bigint | undefined }

/** The node's last irreversible block as reported now: it may go back, stop advancing, or be wrong once. */
export type Irreversible = {
  /** undefined: the reported height is not true at the moment; the caller asks again. */
  read(loaded: LoadPosition, signal: AbortSignal): Promise<number | undefined>
}

/**
 * Accepts a last irreversible block beyond the checkpoint only when the node returns that very block as
 * irreversible: a bare number may come from another node, a damaged one, or a chain that never existed.
 * Earlier reports do not count. A node may also invent that block, so the height may grow no faster than the
 * chain could since the loaded block; at that limit the node is asked again. Anything unusual is logged once.
 * @param now milliseconds since 1970
 */
export function irreversible(
  node: Pick<BlockSource, 'chainInfo' | 'blockHash'>,
  log: Log,
  now: () => number = Date.now,
): Irreversible {
  let last: number | undefined
  let still = 0
  let reported: string | undefined
  /** Logs a message once, until a different message or a normal report follows. */
  const tell = (message: string, fields: Readonly<Record<string, number>>): void => {
    if (reported !== message) log('warn', message, fields)
    reported = message
  }
  const noteStill = (lib: number): void => {
    still = lib === last ? still + 1 : 0
    last = lib
    if (still < STILL) reported = undefined
    else tell("The node's last irreversible block does not advance.", { lib })
  }
  return {
    read: async ({ height: loaded, time }, signal) => {
      const { libBlock: lib, headBlock: head } = await node.chainInfo(signal)
      const most = time === undefined ? loaded + FIRST_BLOCKS : highestPossible({ height: loaded, time }, now())
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
