import { formatUnits } from '#chain/amount.ts'
import { encodeBase58 } from '#chain/base58.ts'
import { type Answer, found, refused } from '#test/support/nodes/rpc/answer.ts'
import { readHeadRange, readTransactionRange } from '#test/support/nodes/rpc/go-values.ts'
import type { Made } from './block.ts'
import type { Chain } from './chain.ts'
import { userTransactions } from './content.ts'
import { rawBlockText, rawHeadText } from './raw-text.ts'
import { type Truth, truthAt } from './truth.ts'
import type { World } from './world.ts'

/**
 * At most this many further blocks are hashed to answer the end of the chain. The hash of a higher end is not answered.
 */
const NEAR = 200_000
const UNKNOWN_HASH = '1'.repeat(32)
const BLOCK_NOT_FOUND = refused(2, 'block not found')

export const hashIn = (made: Made, which: 0 | 1 | 2 | 3): string => encodeBase58(made.roots[which])

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

/**
 * The answers of the generated chain's node to the calls of loaders and audits, which ask for what exists by height.
 * `end()`: height of its head, which is irreversible.
 */
export function generatedNode(chain: Chain, end: () => number) {
  const has = (height: bigint | number): boolean => height >= 0 && height <= end()
  const answerBlock = (number: string, write: (made: Made) => string): Answer =>
    has(Number(number)) ? found(write(chain.block(Number(number)))) : BLOCK_NOT_FOUND
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
    getChainInfo: chainInfo,
    getBlockByNumber: (number: string, complete: string): Answer =>
      answerBlock(number, made => blockText(made, complete === 'true')),
    getRawBlockByNumber: (number: string): Answer => answerBlock(number, made => rawBlockText(chain.world, made)),
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
    for (; scanned < height; scanned += 1)
      for (const { receipts } of userTransactions(chain.world, scanned + 1))
        for (const { funcName, content } of receipts)
          if (funcName === SIGN_UP) accounts.set(content, accountRow(content))
  }
  const rowsOf = (height: number, id: string, prefix: string): readonly Row[] => {
    if (id === 'auth.iost') {
      scanTo(height)
      return sorted([...accounts.values()])
    }
    const truth = truthAt(chain.world, height)
    if (id === 'vote.iost') return votesOf(chain.world, truth)
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

function frozenText(frozen: ReturnType<Truth['frozen']>): string {
  const entries = frozen.map(({ units, due }) => `{"Amount":${units},"Ftime":${due}}`)
  return JSON.stringify(Buffer.from(`[${entries.join(',')}]`).toString('base64'))
}

/** The votes by voter. Objects are written as text, since voters have names like `__proto__`. */
function votesOf({ producers }: World, { voters }: Truth): readonly Row[] {
  const given = producers.flatMap(({ account }) =>
    voters(account).map(([voter, units]) => ({ voter, text: `"${account}":["${formatUnits(units, DECIMALS)}"]` })),
  )
  const byVoter = Map.groupBy(given, ({ voter }) => voter)
  return sorted([...byVoter].map(([voter, all]) => [`u_1-${voter}`, `{${all.map(({ text }) => text).join(',')}}`]))
}

function accountRow(signUp: string): Row {
  const [name = '', owner = '', active = ''] = JSON.parse(signUp) as readonly string[]
  const permission = (which: string, id: string): string =>
    `"${which}":{"name":"${which}","groups":[],"items":[{"id":"${id}","is_key_pair":true,"weight":100}],"threshold":100}`
  const permissions = `${permission('active', active)},${permission('owner', owner)}`
  return [`auth-${name}`, `{"id":${JSON.stringify(name)},"groups":{},"permissions":{${permissions}}}`]
}

/** Versions of the chain's own contracts. */
const VERSIONS: ReadonlyMap<string, string> = new Map([
  ...['system', 'token721', 'gas', 'issue', 'auth', 'base', 'exchange', 'ram'].map(name => [name, '1.0.0'] as const),
  ...([
    ['token', '1.0.6'],
    ['domain', '0.0.0'],
    ['bonus', '1.0.2'],
    ['vote', '1.0.3'],
  ] as const),
  ['vote_producer', '1.0.9'],
])
const ABI = '{"name":"transfer","args":["string","number"],"amount_limit":[{"token":"*","value":"unlimited"}]}'

function systemContractText(id: string): string | undefined {
  const version = id.endsWith('.iost') ? VERSIONS.get(id.slice(0, -5)) : undefined
  return version === undefined
    ? undefined
    : `{"id":"${id}", "code":"", "language":"native", "version":"${version}", "orig_code":"", "abis":[${ABI}]}`
}
