import type { BlockSource } from '#node/port.ts'
import type { Log } from './progress.ts'

/** Looks in a row, half a second apart, after which a chain that does not go on is worth a line: a minute. */
const STILL = 120

/** The node's last irreversible block as it is now: it may go back, stand still, or be nonsense for once. */
export type Irreversible = {
  /** undefined: what the node says is not so at this moment; it is to be asked again. */
  look(loaded: number, signal: AbortSignal): Promise<number | undefined>
}

/**
 * Believes a last irreversible block beyond what is loaded only when the node has that very block as an irreversible
 * one: a number alone may be of another node, of a damaged one, or of a chain that was never made. Nothing that was said
 * earlier counts. What is unusual is logged once.
 */
export const irreversible = (node: Pick<BlockSource, 'chainInfo' | 'blockHash'>, log: Log): Irreversible => {
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
    else tell("The node's last irreversible block stands still.", { lib })
  }
  return {
    look: async (loaded, signal) => {
      const { libBlock: lib, headBlock: head } = await node.chainInfo(signal)
      if (lib > loaded && (await node.blockHash(lib, signal)) === undefined) {
        tell('The node does not have the last irreversible block it names; it is asked again.', {
          lib,
          head,
          loaded,
        })
        return undefined
      }
      if (lib < loaded)
        tell("The node's last irreversible block is below what is loaded; it is waited for.", { lib, loaded })
      else noteStill(lib)
      return lib
    },
  }
}
