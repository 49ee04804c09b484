import { fromUnits } from '#chain/amount.ts'
import { base58Of32 } from '#chain/base58.ts'
import { type Answer, found, refused } from '#test/support/nodes/rpc/answer.ts'
import { parseBool, parseInt64, readHeadRange, readTransactionRange } from '#test/support/nodes/rpc/go-values.ts'
import { hashesOf, type Made } from './block.ts'
import type { Chain } from './chain.ts'
import { rawBlockText, rawHeadText } from './raw-text.ts'
import type { Place } from './transaction-hash.ts'
import { truthAt } from './truth.ts'
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

export const hashIn = (made: Made, which: 0 | 1 | 2 | 3): string =>
  base58Of32(made.roots.subarray(which * HASH, (which + 1) * HASH))

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
  const answerBlock = (number: string, complete: string, write: (made: Made, whole: boolean) => string): Answer => {
    const height = parseInt64('number', number)
    if (typeof height !== 'bigint') return height
    const whole = parseBool('complete', complete)
    if (typeof whole !== 'boolean') return whole
    return has(height) ? found(write(chain.block(Number(height)), whole)) : BLOCK_NOT_FOUND
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
    getBlockByNumber: (number: string, complete: string): Answer => answerBlock(number, complete, blockText),
    getRawBlockByNumber: (number: string, complete: string): Answer =>
      answerBlock(number, complete, (made, whole) => rawBlockText(chain.world, made, whole)),
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

/** The request body of `listContractStorage`. */
type StorageQuestion = {
  readonly id: string
  readonly prefix: string
  readonly from?: string | null
  readonly limit: string
}

type Row = readonly [key: string, value: string]

const DECIMALS = 8
const SIGN_UP = 'auth.iost/signUp'

/**
 * Rows of a contract's maps after block `height`, as a node lists them. Balances and frozen amounts of
 * token.iost and votes of vote.iost come from the truth, accounts of auth.iost from the receipts of their
 * sign-ups, which are never changed later.
 */
function chainStorage(chain: Chain) {
  /** The rows of the last requested height. */
  let known: { readonly height: number; readonly maps: Map<string, readonly Row[]> } | undefined
  const accounts = new Map<string, Row>()
  let scanned = -1

  const scanTo = (height: number): void => {
    for (let at = scanned + 1; at <= height; at += 1)
      for (const text of chain.block(at).texts) for (const row of signUpsIn(text)) accounts.set(row[0], row)
    scanned = Math.max(scanned, height)
  }
  const rowsOf = (height: number, id: string, prefix: string): readonly Row[] => {
    if (id === 'auth.iost') {
      scanTo(height)
      return sorted([...accounts.values()])
    }
    const truth = truthAt(chain.world, height)
    if (id === 'vote.iost')
      return votesOf(
        truth.voters,
        chain.world.producers.map(({ account }) => account),
      )
    if (prefix === 'TF')
      return sorted(
        [...new Set(truth.wealth().map(({ owner }) => owner))].flatMap((owner): readonly Row[] => {
          const frozen = truth.frozen('iost', owner)
          return frozen.length === 0 ? [] : [[`TF${owner}-iost`, frozenText(frozen)]]
        }),
      )
    return sorted(
      truth
        .tokens()
        .flatMap(token => truth.holders(token).map(([owner, units]): Row => [`TB${owner}-${token}`, String(units)])),
    )
  }
  return (height: number, { id, prefix, from, limit }: StorageQuestion): readonly Row[] => {
    if (known?.height !== height) known = { height, maps: new Map() }
    const key = `${id} ${prefix}`
    const rows = known.maps.get(key) ?? rowsOf(height, id, prefix)
    known.maps.set(key, rows)
    return rows.filter(([name]) => name >= (from ?? '')).slice(0, Number(limit))
  }
}

const sorted = (rows: readonly Row[]): readonly Row[] => rows.toSorted(([a], [b]) => (a < b ? -1 : 1))

function frozenText(frozen: readonly { readonly units: bigint; readonly due: bigint }[]): string {
  const entries = frozen.map(({ units, due }) => `{"Amount":${units},"Ftime":${due}}`)
  return JSON.stringify(Buffer.from(`[${entries.join(',')}]`).toString('base64'))
}

/** The votes by voter. Objects are written as text, since voters have names like `__proto__`. */
function votesOf(
  votersOf: (producer: string) => readonly (readonly [string, bigint])[],
  producers: readonly string[],
): readonly Row[] {
  const byVoter = new Map<string, readonly string[]>()
  for (const producer of producers)
    for (const [voter, units] of votersOf(producer))
      byVoter.set(voter, [
        ...(byVoter.get(voter) ?? []),
        `${JSON.stringify(producer)}:["${fromUnits(units, DECIMALS)}"]`,
      ])
  return sorted([...byVoter].map(([voter, votes]): Row => [`u_1-${voter}`, `{${votes.join(',')}}`]))
}

function signUpsIn(text: string): readonly Row[] {
  if (!text.includes(SIGN_UP)) return []
  const { tx_receipt } = JSON.parse(text) as {
    readonly tx_receipt: {
      readonly receipts: readonly { readonly func_name: string; readonly content: string }[]
    }
  }
  return tx_receipt.receipts
    .filter(({ func_name }) => func_name === SIGN_UP)
    .map(({ content }): Row => {
      const [name = '', owner = '', active = ''] = JSON.parse(content) as readonly string[]
      const permission = (which: string, id: string): string =>
        `"${which}":{"name":"${which}","groups":[],"items":[{"id":"${id}","is_key_pair":true,"weight":100}],"threshold":100}`
      return [
        `auth-${name}`,
        `{"id":${JSON.stringify(name)},"groups":{},"permissions":{${permission('active', active)},${permission('owner', owner)}}}`,
      ]
    })
}

/**
 * The node's description of the chain's own contracts: id → language, version, actions with argument types.
 */
const CONTRACTS: Readonly<Record<string, readonly [language: string, version: string, abis: string]>> = {
  'system.iost': [
    'native',
    '1.0.0',
    'setCode(string) updateCode(string,string) initSetCode(string,string) receipt(string)',
  ],
  'token.iost': [
    'native',
    '1.0.6',
    'create(string,string,number,json) issue(string,string,string) transfer(string,string,string,string,string) ' +
      'transferFreeze(string,string,string,string,number,string) destroy(string,string,string)',
  ],
  'token721.iost': [
    'native',
    '1.0.0',
    'create(string,string,number) issue(string,string,string) transfer(string,string,string,string)',
  ],
  'gas.iost': ['native', '1.0.0', 'pledge(string,string,string) unpledge(string,string,string)'],
  'issue.iost': ['javascript', '1.0.0', 'issueIOST()'],
  'auth.iost': ['javascript', '1.0.0', 'signUp(string,string,string)'],
  'domain.iost': ['native', '0.0.0', 'can_update(string)'],
  'bonus.iost': ['javascript', '1.0.2', 'issueContribute(json) exchangeIOST(string,string)'],
  'vote.iost': ['javascript', '1.0.3', 'vote(string,string,string,string) unvote(string,string,string,string)'],
  'vote_producer.iost': ['javascript', '1.0.9', 'vote(string,string,string) unvote(string,string,string) stat()'],
  'base.iost': ['javascript', '1.0.0', 'exec(json)'],
  'exchange.iost': ['javascript', '1.0.0', 'transfer(string,string,string,string)'],
  'ram.iost': [
    'javascript',
    '1.0.0',
    'buy(string,string,number) sell(string,string,number) lend(string,string,number)',
  ],
}

function abiText(spelled: string): string {
  const [name = '', args = ''] = spelled.replace(')', '').split('(')
  const kinds = args === '' ? [] : args.split(',')
  return JSON.stringify({ name, args: kinds, amount_limit: [{ token: '*', value: 'unlimited' }] })
}

/** The answer of getContract for one of the chain's own contracts, undefined for others. */
function systemContractText(id: string): string | undefined {
  const known = Object.hasOwn(CONTRACTS, id) ? CONTRACTS[id] : undefined
  if (known === undefined) return undefined
  const [language, version, abis] = known
  return (
    `{"id":"${id}", "code":"", "language":"${language}", "version":"${version}", "orig_code":"", ` +
    `"abis":[${abis.split(' ').map(abiText).join(', ')}]}`
  )
}
