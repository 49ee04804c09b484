import type { Block, Transaction } from './block.ts'
import { applies } from './effects.ts'
import { compactJson, memberSpans } from './json.ts'

/** Whether position `tx` of block `height` is the base transaction's, which is stored with the block. */
export const isBasePlace = ({ height, tx }: { readonly height: number; readonly tx: number }): boolean =>
  height > 0 && tx === 0

/** Whether a transaction is the base transaction of its block, which the chain itself makes. */
export const isBase = (block: Block, position: number): boolean =>
  block.height > 0 && position === 0 && block.transactions[0]?.publisher === 'base.iost'

/**
 * Base transactions (publisher `base.iost`, the first of every block but genesis) follow one template (chain rule:
 * 4,851 of 4,851 recorded ones). Only the differences are stored, 172,800 times a day, so the keys are short: `c` chain
 * id, `w` key of the parent's witness, `g` the parent's gas × 100, `f` third element of `parent` when true, `t`
 * receiver and `a` amount of the contribute, `x` receipts before it. Hash and time come from the block.
 */
export type BaseDifference = {
  readonly c: number
  readonly w: string
  readonly g: string
  readonly f?: boolean
  readonly t: string
  readonly a: string
  readonly x?: readonly { readonly func_name: string; readonly content: string }[]
}

type Own = { readonly hash: string; readonly time: bigint }

const PARENT = /^\[\{"parent":\["([^"\\]*)", "([0-9]+)", (true|false)\]\}\]$/
const CONTRIBUTE = /^\["contribute","([^"\\]*)","([0-9.]+)"\]$/

/**
 * The stored form of the base transaction in a block of this time, as JSON text. A transaction that does not
 * follow the template is stored whole (`body`).
 */
export function packBaseTransaction(tx: Transaction, time: bigint): string {
  const difference = findDifference(tx, time)
  if (difference === undefined) return `{"body":${tx.body}}`
  const { c, w, g, f, t, a, x } = difference
  return (
    `{"c":${c},"w":"${escapeJson(w)}","g":"${escapeJson(g)}",${f === undefined ? '' : `"f":${f},`}"t":"${escapeJson(t)}",` +
    `"a":"${escapeJson(a)}"${x === undefined ? '' : `,"x":${JSON.stringify(x)}`}}`
  )
}

/**
 * The difference between the base transaction in a block of this time and the template; undefined: it does
 * not follow the template.
 */
export function findDifference(tx: Transaction, time: bigint): BaseDifference | undefined {
  if (tx instanceof Templated && tx.time === time) return tx.difference
  const [, w, g, flag] = PARENT.exec(tx.actions[0]?.data ?? '') ?? []
  const [, t, a] = CONTRIBUTE.exec(tx.receipt.receipts.at(-1)?.content ?? '') ?? []
  if (w === undefined || g === undefined || t === undefined || a === undefined) return undefined
  const others = tx.receipt.receipts.slice(0, -1).map(({ funcName, content }) => ({ func_name: funcName, content }))
  const difference = {
    c: tx.chainId,
    w,
    g,
    ...(flag === 'true' && { f: true }),
    t,
    a,
    ...(others.length > 0 && { x: others }),
  }
  // A difference is valid only if it reproduces the very same text.
  return formatBody(difference, { hash: tx.hash, time }) === tx.body ? difference : undefined
}

/** The base transaction with this difference, as if its text had been decoded. */
export const buildBaseTransaction = (difference: BaseDifference, own: Own): Transaction =>
  new Templated(difference, own)

/**
 * The template as a decoded transaction. The difference saves another comparison with the template. It is a
 * private field, so that the object equals a transaction decoded from its text.
 */
class Templated implements Transaction {
  readonly #difference: BaseDifference
  readonly hash: string
  readonly time: bigint
  readonly expiration = 0n
  readonly gasRatio = '1'
  readonly gasLimit = '1000000'
  readonly delay = 0n
  readonly chainId: number
  readonly actions: Transaction['actions']
  readonly signers: Transaction['signers'] = []
  readonly publisher = 'base.iost'
  readonly referredTx = ''
  readonly amountLimit: Transaction['amountLimit'] = []
  readonly receipt: Transaction['receipt']
  readonly body: string

  constructor(difference: BaseDifference, own: Own) {
    this.#difference = difference
    this.hash = own.hash
    this.time = own.time
    this.chainId = difference.c
    this.actions = [{ contract: 'base.iost', actionName: 'exec', data: parentText(difference) }]
    this.receipt = {
      gasUsage: 0n,
      ramUsage: [],
      statusCode: 'SUCCESS',
      message: '',
      returns: ['[""]'],
      receipts: [
        ...(difference.x ?? []).map(({ func_name, content }) => ({ funcName: func_name, content })),
        { funcName: 'token.iost/issue', content: contributeText(difference) },
      ],
    }
    this.body = formatBody(difference, own)
  }

  get difference(): BaseDifference {
    return this.#difference
  }
}

/**
 * The node's object of a block's base transaction, compact, otherwise unchanged; undefined: the block has none
 * (genesis). `base`: the result of `packBaseTransaction`; the first of `tx_hashes` is its hash.
 */
export function unpackBaseTransaction({
  base,
  tx_hashes,
  time,
}: {
  readonly base?: string
  readonly tx_hashes: string
  readonly time: bigint
}): string | undefined {
  if (base === undefined) return undefined
  const body = memberSpans(base).get('body')
  if (body !== undefined) return compactJson(base, body)
  return formatBody(JSON.parse(base) as BaseDifference, { hash: tx_hashes.split(' ', 1)[0] ?? '', time })
}

/**
 * The payment for the parent if the block contains nothing else: the receiver, and the amount as decimal text.
 * undefined: the block has more, or less.
 */
export function findContribution(block: Block): { readonly to: string; readonly amount: string } | undefined {
  const [tx] = block.transactions
  if (tx === undefined || block.transactions.length > 1 || !isBase(block, 0) || !applies(tx)) return undefined
  const [action] = tx.actions
  const { receipts, ramUsage, gasUsage } = tx.receipt
  if (tx.actions.length !== 1 || action?.contract !== 'base.iost' || action.actionName !== 'exec') return undefined
  const [receipt] = receipts
  if (receipts.length !== 1 || receipt?.funcName !== 'token.iost/issue') return undefined
  if (ramUsage.length > 0 || gasUsage !== 0n) return undefined
  const [, to, amount] = CONTRIBUTE.exec(receipt.content) ?? []
  return to === undefined || amount === undefined ? undefined : { to, amount }
}

/** Characters that JSON writes unchanged, however deeply a text is nested in other JSON texts. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Escapes a text for use inside the quotes of a JSON text. */
const escapeJson = (text: string): string => (PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1))

/** The data of the action, which names the parent. */
const parentText = ({ w, g, f }: BaseDifference): string => `[{"parent":["${w}", "${g}", ${f ?? false}]}]`

/** The content of the last receipt, which pays for the parent. */
const contributeText = ({ t, a }: BaseDifference): string => `["contribute","${escapeJson(t)}","${escapeJson(a)}"]`

/**
 * The text of the template, in the node's order of fields. It is joined from strings, since JSON.stringify of
 * an object takes five times as long.
 */
function formatBody(difference: BaseDifference, { hash, time }: Own): string {
  const { c, x = [] } = difference
  const own = escapeJson(hash)
  const parent = JSON.stringify(parentText(difference))
  const content = JSON.stringify(contributeText(difference))
  const others = x.map(each => `${JSON.stringify(each)},`).join('')
  return (
    `{"hash":"${own}","time":"${time}","expiration":"0","gas_ratio":1,"gas_limit":1000000,"delay":"0","chain_id":${c},` +
    `"actions":[{"contract":"base.iost","action_name":"exec","data":${parent}}],` +
    `"signers":[],"publisher":"base.iost","referred_tx":"","amount_limit":[],` +
    `"tx_receipt":{"tx_hash":"${own}","gas_usage":0,"ram_usage":{},"status_code":"SUCCESS","message":"",` +
    `"returns":["[\\"\\"]"],"receipts":[${others}{"func_name":"token.iost/issue","content":${content}}]}}`
  )
}
