import { HASH, STORED } from '#chain/bounds.ts'
import {
  asObject,
  int64Of,
  type JsonFields,
  type Path,
  parseAnswer,
  requireText,
  requireTexts,
} from '#chain/json-fields.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Context } from '../define.ts'
import { OK, WITHIN_MS } from './node-answer.ts'

/** A key of a contract's storage; `field`: of the map under that key. */
type Place = { readonly contract: string; readonly key: string; readonly field?: string | undefined }

/** The irreversible block that an answer about storage reflects. */
type AsOf = { readonly height: number; readonly hash: string }

/**
 * The storage of contracts, as returned by the followed node. Throws Failure 'unavailable', 'bad_block', 'deadline'.
 */
export type StorageReader = {
  /**
   * The value as the node writes it: a text, a number in digits, or `null`, which also stands for a missing
   * value. The answer is not verified.
   */
  value(place: Place): Promise<AsOf & { readonly value: string }>
  /** The fields of the map under a key, the first 257 (go-iost vm/database, addField); []: there is no map. */
  fields(place: Omit<Place, 'field'>): Promise<AsOf & { readonly fields: readonly string[] }>
}

/** Reads storage from a node, waiting outside the queue of the store. */
export function storageReader({
  node,
  waitForNode,
  signal,
}: Pick<Context, 'waitForNode' | 'signal'> & { readonly node: Node }): StorageReader {
  // Without `by_longest_chain` a node uses the last irreversible block.
  const ask = (call: string, { contract, key, field }: Place): Promise<JsonFields> =>
    waitForNode(async () => {
      const body = JSON.stringify({ id: contract, key, field })
      const answer = await node.get(`/${call}`, { signal, withinMs: WITHIN_MS, body })
      const text = new TextDecoder().decode(answer.body)
      answer.release()
      if (answer.status !== OK) throw refused(call, answer.status)
      return asObject(parseAnswer(text, call), PATH)
    })
  return {
    value: async place => {
      const answer = await ask('getContractStorage', place)
      return { value: requireText(answer, 'data', PATH, STORED), ...parseStorageBlock(answer) }
    },
    fields: async place => {
      const answer = await ask('getContractStorageFields', place)
      return { fields: requireTexts(answer, 'fields', PATH), ...parseStorageBlock(answer) }
    },
  }
}

const PATH: Path = { key: 'storage' }

const parseStorageBlock = (answer: JsonFields): AsOf => ({
  height: Number(int64Of(answer, 'block_number', PATH)),
  hash: requireText(answer, 'block_hash', PATH, HASH),
})

const refused = (call: string, status: number): Failure =>
  new Failure('unavailable', `The node refuses ${call}: it responds with status ${status}.`, {
    zh: `全节点拒绝了 ${call}，状态码为 ${status}。`,
  })
