import type { AcquirePermit, AnswerDeps } from '#actions/answer.ts'
import { type AnswerOf, type Ask, askAtOneHeight } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getBalances } from '#actions/get-balance.ts'
import { getBlockDetail } from '#actions/get-block.ts'
import { getContractDetail } from '#actions/get-contract.ts'
import { getCollectionDetail } from '#actions/get-nft.ts'
import { getProducerDetail } from '#actions/get-producer.ts'
import { getTokenDetail } from '#actions/get-token.ts'
import { getTransactionDetail } from '#actions/get-transaction.ts'
import { search } from '#actions/search.ts'
import { isContractId } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { selectNoun } from '../format/amount.ts'
import { getMatchKind } from '../format/state.ts'
import { cutText } from '../format/text.ts'
import { formatIso } from '../format/time.ts'
import { decodeSegment } from '../links.ts'
import type { Visit } from '../page.ts'
import { catchNotFound } from './known.ts'
import { labelledNames } from './labels.ts'

/** A row of search. */
export type SearchMatch = AnswerOf<typeof search>['matches'][number]

type MatchType = SearchMatch['type']

/** One interpretation of a text: the text to search for, and the kind of thing that it names; absent: any kind. */
type TextReading = { readonly text: string; readonly kind?: MatchType }

/**
 * The kind that the segment before an id names, in addresses of this and other explorers: `/account/x`,
 * `/#/txDetail/x`.
 */
const KINDS = [
  [/^block(?:s|detail)?$/i, 'block'],
  [/^(?:tx|transaction)(?:s|detail)?$/i, 'transaction'],
  [/^(?:account|address)(?:s|es|detail)?$/i, 'account'],
  [/^contract(?:s|detail)?$/i, 'contract'],
  [/^token(?:s|detail)?$/i, 'token'],
  [/^(?:producer|node|vote)(?:s|detail)?$/i, 'producer'],
  [/^nft$/i, 'collection'],
] as const

/** The names in a page's address; none: the text is not an address, or its page is not about a thing. */
function listAddressReadings(text: string): readonly TextReading[] {
  const hasScheme = /^https?:\/\//i.test(text)
  if (!hasScheme && !text.includes('/')) return []
  const url = URL.parse(hasScheme ? text : `https://${text.startsWith('/') ? 'host' : ''}${text}`)
  if (url === null) return []
  const [own = '', query = ''] = url.hash.replace(/^#!?/, '').split('?', 2)
  const segments = `${url.pathname}/${own}`
    .split('/')
    .map(decodeSegment)
    .filter(each => each !== '')
  for (const [at, segment] of segments.entries()) {
    const id = segments[at + 1]
    const kind = KINDS.find(([form]) => form.test(segment))?.[1]
    if (kind !== undefined && id !== undefined) return [{ text: id, kind }]
  }
  const values = [...url.searchParams.values(), ...new URLSearchParams(query).values()]
  // `token.iost/transfer` is an action of a contract, in the form that rows show.
  const host = !hasScheme && isContractId(url.hostname) ? [url.hostname] : []
  const ids = [...host, ...values.slice(0, MAX_VALUES), ...segments.slice(-1)]
  return ids.map(id => ({ text: id }))
}

const MAX_VALUES = 2

/** Maximum length of a text: longer than any address. */
const MAX_LETTERS = 2_000
/** Invisible characters that are copied with a text. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu
/** Quotes and brackets before a text, and those behind it with its punctuation. */
const BEFORE = /^["'`“‘«<([{「『《]+/u
const BEHIND = /(?<!["'`”’»>)\]}」』》,;:，；。])["'`”’»>)\]}」』》,;:，；。]+$/u
/** A block number: `Block #4,824`, `区块 4824`, `#4824`. */
const NUMBER = /^(?:(?:block|height|no\.?|number|区块|高度)\s*(?::\s*)?)?(#\s*)?(\d[\d,.'’_ ]*)$/i
const IN_THOUSANDS = /^\d{1,3}(?:([,.'’_ ])\d{3})(?:\1\d{3})*$/
/** A label before a name, in the form that pages show: `Tx hash: 8fd0…`, `@admin`. */
const LABELS: readonly (readonly [RegExp, MatchType | undefined])[] = [
  [/^(?:tx ?hash|txid|tx|transaction(?: hash)?|交易(?:哈希)?)\s*(?:[:#]\s*|\s)/i, 'transaction'],
  [/^(?:account|address|账户|地址)\s*(?::\s*|\s)/i, 'account'],
  [/^(?:contract|合约)\s*(?::\s*|\s)/i, 'contract'],
  [/^(?:token|代币)\s*(?::\s*|\s)/i, 'token'],
  [/^(?:producer|生产者|节点)\s*(?::\s*|\s)/i, 'producer'],
  [/^(?:block(?: hash)?|hash|区块(?:哈希)?|哈希)\s*(?::\s*|\s)/i, undefined],
  [/^[@$]/, undefined],
]

/** The possible interpretations of a typed or pasted text, most likely first. */
export function listReadings(given: string): readonly TextReading[] {
  // Normalizes a text to one line: full-width letters and digits become ordinary ones.
  const text = cutText(given, MAX_LETTERS).text.normalize('NFKC').replaceAll(/\s+/g, ' ').replaceAll(UNSEEN, '').trim()
  if (text === '') return []
  const inner = text.replace(BEFORE, '').replace(BEHIND, '').trim()
  const address = listAddressReadings(inner)
  const all =
    address.length > 0
      ? address
      : [
          ...readNumber(text),
          ...readNumber(inner),
          { text },
          ...LABELS.flatMap(([label, kind]) => {
            const name = inner.replace(label, '')
            return name === inner ? [] : [{ text: name, ...(kind === undefined ? {} : { kind }) }]
          }),
          { text: inner },
        ]
  // Names are in lower case. Hashes and contract ids have upper and lower case.
  const small = all.map(({ text: each, ...of }) => ({ ...of, text: each.toLowerCase() }))
  const readings = new Map<string, TextReading>()
  for (const each of [...all, ...small]) if (each.text !== '' && !readings.has(each.text)) readings.set(each.text, each)
  return [...readings.values()]
}

function readNumber(text: string): readonly TextReading[] {
  const [, , digits = ''] = NUMBER.exec(text) ?? []
  // A name may consist of digits, so a plain number may be a name or a block.
  if (/^\d*$/.test(digits)) return digits === '' || digits === text ? [] : [{ text: digits, kind: 'block' }]
  return IN_THOUSANDS.test(digits) ? [{ text: digits.replaceAll(/\D/g, ''), kind: 'block' }] : []
}

/** Maximum number of interpretations that are tried. Each needs a search. */
const MAX_READINGS = 6

/**
 * The things that a typed or pasted text may mean: the matches of the first interpretation with an exact
 * match, else of the first with any. Throws the failures of search, such as 'loading', when no other
 * interpretation has matches either.
 */
export async function findMatches(visit: Pick<Visit, 'ask' | 'site'>, text: string): Promise<readonly SearchMatch[]> {
  const labelled = await findLabelledMatches(visit, text)
  if (labelled.length === 0) return findNamedMatches(visit, text)
  // When a label matches, a refused search for names is not a failure.
  const named = (await catchNotFound(findNamedMatches(visit, text))) ?? []
  const isNew = ({ type, id }: SearchMatch): boolean => !labelled.some(each => each.type === type && each.id === id)
  return [...labelled, ...named.filter(isNew)]
}

/** Maximum number of labels whose names are searched. */
const MAX_LABELLED = 5

/** The accounts and contracts whose label contains the text, and which exist on the chain. */
async function findLabelledMatches(visit: Pick<Visit, 'ask' | 'site'>, text: string): Promise<readonly SearchMatch[]> {
  const found = labelledNames(visit, text, MAX_LABELLED)
  const matches = await Promise.all(
    found.map(async ({ name, isWhole }) => {
      const type = isContractId(name) ? 'contract' : 'account'
      const answer = await catchNotFound(visit.ask(search, { text: name }))
      const own = answer?.matches.filter(match => match.exact && match.id === name && match.type === type)
      return (own ?? []).map(match => ({ ...match, exact: isWhole }))
    }),
  )
  return matches.flat()
}

/** The matches by name, number and hash. */
async function findNamedMatches(visit: Pick<Visit, 'ask'>, text: string): Promise<readonly SearchMatch[]> {
  let failure: Failure | undefined
  let begun: readonly SearchMatch[] = []
  for (const reading of listReadings(text).slice(0, MAX_READINGS)) {
    try {
      const { matches } = await visit.ask(search, { text: reading.text })
      if (matches.some(({ exact }) => exact)) {
        // The exact matches of the kind that the text names, if there are any; else all.
        const meant = matches.filter(({ type, exact }) => exact && type === reading.kind)
        return meant.length > 0 ? meant : matches
      }
      if (begun.length === 0) begun = matches
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined && begun.length === 0) throw failure
  return begun
}

/** The one fact by which a person recognizes a thing: an amount, a count, or a time. */
export type MatchFact =
  | { readonly amount: string; readonly of: Text }
  | { readonly iso: string; readonly isFailed?: boolean }

/** Number of matches for which a fact is requested. All accounts need one call, and each other thing needs its own. */
const MAX = 8

/** A fact for each of the first matches, in their order: balance, holders, votes, or time of creation. */
export async function askFacts(
  visit: Pick<Visit, 'ask'>,
  matches: readonly SearchMatch[],
): Promise<readonly (MatchFact | undefined)[]> {
  const first = matches.slice(0, MAX)
  const accounts = first.filter(({ type }) => type === 'account').map(({ id }) => id)
  const balances =
    accounts.length === 0
      ? []
      : ((await catchNotFound(visit.ask(getBalances, { accounts: accounts.join(',') })))?.balances ?? [])
  const byAccount = new Map(balances.flatMap(each => (each === null ? [] : [[each.account, each] as const])))
  return Promise.all(
    first.map(async match => {
      if (match.type !== 'account') return catchNotFound(askFact(visit, match))
      const found = byAccount.get(match.id)
      return found && { amount: found.balance, of: { en: 'iost', zh: 'iost' } }
    }),
  )
}

async function askFact({ ask }: Pick<Visit, 'ask'>, { type, id, status }: SearchMatch): Promise<MatchFact | undefined> {
  if (type === 'token') {
    const { holder_count } = await ask(getTokenDetail, { token: id })
    return { amount: String(holder_count), of: { en: selectNoun(holder_count, 'holder'), zh: '个持有者' } }
  }
  if (type === 'producer') {
    const { votes } = await ask(getProducerDetail, { producer: id })
    return { amount: votes, of: { en: selectNoun(votes, 'vote'), zh: '票' } }
  }
  if (type === 'collection') {
    const { issued } = await ask(getCollectionDetail, { collection: id })
    return { amount: String(issued), of: { en: selectNoun(issued, 'NFT'), zh: '个 NFT' } }
  }
  if (type === 'contract') return { iso: (await ask(getContractDetail, { contract: id })).created_at }
  if (type === 'block') return { iso: await readBlockTime(ask, id) }
  // A transaction in the pool has no block, and so no time agreed by the chain.
  if (status === 'PENDING') return undefined
  const { transaction, block_number } = await ask(getTransactionDetail, { tx_hash: id })
  const { status_code } = transaction.tx_receipt
  return {
    // The block's time, as on the transaction's page: the time in the transaction was set by its signer.
    iso: block_number === '-1' ? formatIso(transaction.time) : await readBlockTime(ask, block_number),
    isFailed: status_code !== undefined && status_code !== 'SUCCESS',
  }
}

const readBlockTime = async (ask: Ask, number: string): Promise<string> =>
  formatIso((await ask(getBlockDetail, { number })).block.time)

/** Suggestions for a visitor whose name was not found, and the last loaded block. */
export type Near = {
  readonly text: string
  readonly matches: readonly SearchMatch[]
  /** Height of the last loaded block. */
  readonly height: number
}

/** Minimum length of a prefix: a shorter one matches too many names. */
const MIN_PREFIX = 2

const BLOCK_BY_NUMBER = /^\/block\/\d+$/

/**
 * Suggestions for a name that does not exist: names that start with it, or with ever shorter prefixes. Reads
 * the store and asks no node.
 */
export async function findNear(
  deps: AnswerDeps,
  address: Pick<Visit, 'path' | 'query'>,
  running: { readonly signal: AbortSignal; readonly acquire: AcquirePermit },
): Promise<Near> {
  return askAtOneHeight(
    { ...deps, node: undefined },
    async ({ ask, at }) => {
      const text = await findMissingName(ask, address)
      // A block number is not shortened: other blocks and names with its first digits are unrelated.
      const beginnings = BLOCK_BY_NUMBER.test(address.path) ? [text] : listPrefixes(text)
      const near = { text, height: at.height }
      for (const beginning of beginnings) {
        const found = await catchNotFound(ask(search, { text: beginning }))
        if (found !== undefined && found.matches.length > 0) return { ...near, matches: found.matches }
      }
      return { ...near, matches: [] }
    },
    running,
  )
}

/** A name in an address, and the kind of the page. */
type Named = { readonly text: string; readonly kind: string }

/**
 * The names in an address: those of its path, then those of the filters in its query. The id of an NFT is not a name.
 */
function listAddressNames({ path, query }: Pick<Visit, 'path' | 'query'>): readonly Named[] {
  const [, kind = '', whole = kind, part = ''] = path.split('/').map(decodeSegment)
  const given = (name: string): string => query.get(name) ?? ''
  return [
    { text: whole, kind },
    { text: kind === 'account' ? part : '', kind: 'token' },
    { text: given('counterparty'), kind: 'account' },
    { text: given('token'), kind: 'token' },
    { text: given('func_name').split('/')[0] ?? '', kind: 'contract' },
  ].filter(({ text }) => text !== '')
}

/** The first name of an address that does not exist; `""`: all exist. */
async function findMissingName(ask: Ask, address: Pick<Visit, 'path' | 'query'>): Promise<string> {
  for (const { text, kind } of listAddressNames(address)) {
    const found = await catchNotFound(ask(search, { text }))
    const isThere = found?.matches.some(({ exact, type }) => exact && isOfKind(type, kind)) === true
    if (!isThere) return text
  }
  return ''
}

/** Whether a search type has pages of a kind. Contracts also have one for their holdings. */
const isOfKind = (type: string, kind: string): boolean =>
  getMatchKind(type).kind === kind || (type === 'contract' && kind === 'account')

/** Prefixes of a text to search for, longest first. Names of accounts and tokens are in lower case. */
function listPrefixes(text: string): readonly string[] {
  const { length } = text
  const lengths = [length, length - 1, length - 2, Math.ceil(length / 2), Math.ceil(length / 3)]
  const cut = lengths.filter(each => each >= MIN_PREFIX).map(each => text.slice(0, each).toLowerCase())
  return [...new Set([text, ...cut])].filter(each => each.length >= MIN_PREFIX)
}
