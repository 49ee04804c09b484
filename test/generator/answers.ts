import { type Answer, found, refused } from '#test/support/nodes/rpc/answer.ts'
import { parseBool, parseInt64 } from '#test/support/nodes/rpc/go-values.ts'
import { readHeadRange, readTransactionRange } from '#test/support/nodes/rpc/ranges.ts'
import { base58Of32 } from './base58.ts'
import { blockGas, hashesOf, type Made } from './block.ts'
import type { Chain } from './chain.ts'
import { rawBlockText, rawHeadText } from './raw-text.ts'
import { chainStorage, type StorageQuestion } from './storage.ts'
import { systemContractText } from './system-contracts.ts'
import type { Place } from './transaction-hash.ts'
import type { World } from './world.ts'

const HASH = 32
/**
 * At most this many further blocks are hashed to answer the end of the chain. The hash of a higher end is not answered.
 */
const NEAR = 200_000
/** Blocks and transactions are only found by hash among this many blocks. */
const FOUND_AMONG = 100_000
const UNKNOWN_HASH = '1'.repeat(HASH)
const NODE_INFO =
  '{"build_time":"", "git_hash":"", "mode":"ModeNormal", "network":{"id":"generated", "peer_count":0, ' +
  '"peer_count_inbound":0, "peer_count_outbound":0}, "code_version":"3.11.5", "server_time":"0"}'
const BLOCK_NOT_FOUND = refused(2, 'block not found')

export const hashIn = (made: Made, which: 0 | 1 | 2 | 3): string => base58Of32(made.roots, which * HASH)

/** A block as getBlockByNumber returns it. */
export const blockText = (made: Made, complete: boolean, status = 'IRREVERSIBLE'): string =>
  `{"status":"${status}", "block":{"hash":"${hashIn(made, 3)}", "version":"${made.height === 0 ? 0 : 1}", ` +
  `"parent_hash":"${made.height === 0 ? '' : hashIn(made, 0)}", "tx_merkle_hash":"${hashIn(made, 1)}", ` +
  `"tx_receipt_merkle_hash":"${hashIn(made, 2)}", "number":"${made.height}", "witness":"${made.witness}", ` +
  `"time":"${made.time}", "gas_usage":0, "tx_count":"${made.texts.length}", "info":null, "orig_info":"", ` +
  `"transactions":[${complete ? made.texts.join(', ') : ''}]}}`

const headText = (world: World, made: Made): string =>
  `{${rawHeadText(world, made)}, "txs":[], "receipts":[], "txHashes":[], "receiptHashes":[], "blockType":"ONLYHASH"}`

/** The transactions of a block as the bulk call returns them, which leaves out transactions without actions. */
function listText({ height, texts, without }: Made): string | undefined {
  const shown = without.length === 0 ? texts : texts.filter((_, position) => !without.includes(position))
  if (shown.length === 0) return undefined
  return `{"status":"IRREVERSIBLE", "block_number":"${height}", "tx_list":[${shown.length === 1 ? shown[0] : shown.join(', ')}]}`
}

/** The answers of the generated chain's node. `end()`: height of its head, which is irreversible. */
export function generatedNode(chain: Chain, end: () => number) {
  const has = (height: bigint | number): boolean => height >= 0 && height <= end()
  /** Heights by block hash; `places`: places by transaction hash. */
  const heights = new Map<string, number>()
  const places = new Map<string, Place>()
  let indexed = 0
  const index = (): void => {
    const last = Math.min(end(), FOUND_AMONG)
    for (; indexed <= last; indexed += 1) {
      const made = chain.block(indexed)
      heights.set(hashIn(made, 3), indexed)
      for (const [position, hash] of hashesOf(made).entries()) places.set(hash, { height: indexed, position })
    }
  }
  const storage = chainStorage(chain)
  const chainInfo = (): Answer => {
    const last = end()
    const near = last <= chain.hashed() + NEAR
    const hash = near ? hashIn(chain.block(last), 3) : UNKNOWN_HASH
    const time = chain.timeOf(last)
    const keys = JSON.stringify(chain.world.producers.map(({ key }) => key))
    return found(
      `{"net_name":"generated", "protocol_version":"1.0", "chain_id":1024, "head_block":"${last}", ` +
        `"head_block_hash":"${hash}", "lib_block":"${last}", "lib_block_hash":"${hash}", "witness_list":${keys}, ` +
        `"lib_witness_list":${keys}, "pending_witness_list":${keys}, "head_block_time":"${time}", "lib_block_time":"${time}"}`,
    )
  }
  return {
    getNodeInfo: (): Answer => found(NODE_INFO),
    getChainInfo: chainInfo,
    getBlockByNumber: (number: string, complete: string): Answer => {
      const height = parseInt64('number', number)
      if (typeof height !== 'bigint') return height
      const whole = parseBool('complete', complete)
      if (typeof whole !== 'boolean') return whole
      return has(height) ? found(blockText(chain.block(Number(height)), whole)) : BLOCK_NOT_FOUND
    },
    getRawBlockByNumber: (number: string, complete: string): Answer => {
      const height = parseInt64('number', number)
      if (typeof height !== 'bigint') return height
      const whole = parseBool('complete', complete)
      if (typeof whole !== 'boolean') return whole
      if (!has(height)) return BLOCK_NOT_FOUND
      const { world } = chain
      const parentGas = height === 0n ? 0 : blockGas(world, Number(height) - 1)
      return found(rawBlockText(world, chain.block(Number(height)), parentGas, whole))
    },
    getBlockByHash: (hash: string, complete: string): Answer => {
      const whole = parseBool('complete', complete)
      if (typeof whole !== 'boolean') return whole
      index()
      const height = heights.get(hash)
      return height === undefined || !has(height) ? BLOCK_NOT_FOUND : found(blockText(chain.block(height), whole))
    },
    getTxByHash: (hash: string): Answer => {
      index()
      const place = places.get(hash)
      const text =
        place === undefined || !has(place.height) ? undefined : chain.block(place.height).texts[place.position]
      return text === undefined
        ? refused(2, 'tx not found')
        : found(`{"status":"IRREVERSIBLE", "transaction":${text}, "block_number":"${place?.height}"}`)
    },
    getContract: (id: string): Answer => {
      const text = systemContractText(id)
      return text === undefined ? refused(2, 'contract not found') : found(text)
    },
    listContractStorage: (body: string): Answer => {
      const rows = storage(end(), JSON.parse(body) as StorageQuestion)
      const hash = hashIn(chain.block(end()), 3)
      const datas = rows.map(([key, value]) => `{"key":${JSON.stringify(key)}, "value":${JSON.stringify(value)}}`)
      return found(`{"datas":[${datas.join(', ')}], "block_hash":"${hash}", "block_number":"${end()}"}`)
    },
    getBlockHeaderByRange: (body: string): Answer => {
      const range = readHeadRange(body)
      if ('status' in range) return range
      const heads: string[] = []
      for (let at = Number(range.start); at < Number(range.end) && has(at); at += 1)
        heads.push(headText(chain.world, chain.block(at)))
      return found(`{"block_list":[${heads.join(', ')}]}`)
    },
    getBlockTxsByContract: (body: string): Answer => {
      const asked = readTransactionRange(body)
      if ('status' in asked) return asked
      const { from_block: from, to_block: to } = asked
      // A filter would require reading every action, and loaders use none.
      if (asked.contract !== '' || asked.action_name !== '') return refused(2, 'not generated with a filter')
      if (!has(from) || !has(to)) return BLOCK_NOT_FOUND
      const blocks: string[] = []
      for (let at = Number(from); at <= Number(to); at += 1) {
        const text = listText(chain.block(at))
        if (text !== undefined) blocks.push(text)
      }
      return found(`{"blocktx_list":[${blocks.join(', ')}]}`)
    },
  } as const
}
