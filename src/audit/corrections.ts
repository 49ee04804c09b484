import type { Rewrite, Writer } from '#store/port.ts'

type Put = Rewrite['put'][number]
type Remove = Rewrite['remove'][number]

/** Collects the corrections of the store and writes them in batches. */
export type Corrections = {
  put(put: Put): Promise<void>
  remove(remove: Remove): Promise<void>
  unplace(place: bigint): Promise<void>
  /** Writes the remaining corrections. */
  end(): Promise<void>
}

/** Documents per write: rows may be some KB, transactions more. */
const AT_ONCE = 500

/** Corrections written by `writer`; undefined: nothing is written. */
export function createCorrections(writer: Pick<Writer, 'rewrite'> | undefined): Corrections {
  let put: Put[] = []
  let remove: Remove[] = []
  let unplace: bigint[] = []
  const flush = async (): Promise<void> => {
    const rewrite = { put, remove, unplace }
    put = []
    remove = []
    unplace = []
    if (writer !== undefined) await writer.rewrite(rewrite)
  }
  const note = async (): Promise<void> => {
    if (put.length + remove.length + unplace.length >= AT_ONCE) await flush()
  }
  return {
    put: async each => {
      put.push(each)
      await note()
    },
    remove: async each => {
      remove.push(each)
      await note()
    },
    unplace: async place => {
      unplace.push(place)
      await note()
    },
    end: async () => {
      if (put.length + remove.length + unplace.length > 0) await flush()
    },
  }
}
