import type { RowId } from '../list/row-id.ts'
import type { Text } from '../text.ts'
import { checkHeadRange, checkRange, type RowRange } from './range.ts'
import type { RecordFilters } from './record-filters.ts'
import { badRequest } from './refusals.ts'

/** Parameters of a list of records that are checked together. */
type RequestedRange = RecordFilters &
  RowRange & { readonly head: number; readonly after?: RowId | undefined; readonly page: bigint }

/** Filters that only rows of token movements pass. */
const MOVING = ['direction', 'token', 'memo', 'memo_prefix'] as const

/** Throws 'bad_request' for filters that no row can pass together: an empty list would hide the mistake. */
export function checkFilters(filters: RecordFilters): void {
  const moving = MOVING.find(name => filters[name] !== undefined)
  if (filters.failed === 1) {
    const other = moving ?? (filters.min_amount === undefined ? undefined : 'min_amount')
    if (other !== undefined)
      throw refuseCombination('failed', other, {
        en: 'a transaction that failed moved nothing',
        zh: '失败的交易没有任何代币变动',
      })
  }
  const contract = filters.func_name?.contract
  if (contract !== undefined && moving !== undefined) checkMoves(contract, 'func_name', moving)
}

/** Throws 'bad_request' if rows of a contract cannot pass a filter for movements. */
function checkMoves(contract: string, parameter: string, moving: string): void {
  if (contract === 'token.iost') return
  throw badRequest(
    {
      en: `Parameter '${moving}' does not go with '${parameter}' of ${contract}: only rows of token.iost move tokens, and tokens moved by a call are listed in rows of their own; leave '${parameter}' out, or '${moving}'.`,
      zh: `参数 '${moving}' 不能用于 '${parameter}' 为 ${contract} 的查询：只有 token.iost 的记录有代币变动，其他合约的调用所引起的变动另有记录；请去掉 '${parameter}' 或 '${moving}'。`,
    },
    { parameter: moving },
  )
}

/** `checkFilters` for the rows of a contract, where `direction` also needs a `counterparty`. */
export function checkContractFilters(contract: string, filters: RecordFilters): void {
  checkFilters(filters)
  const moving = MOVING.find(name => filters[name] !== undefined)
  if (moving !== undefined) checkMoves(contract, 'contract', moving)
  checkSide(filters)
}

/** Throws 'bad_request' for a direction without an account as its reference. */
export function checkSide({ direction, counterparty }: RecordFilters): void {
  if (direction === undefined || counterparty !== undefined) return
  throw badRequest(
    {
      en: `Parameter 'direction' is '${direction}', which says whether tokens came from 'counterparty' (in) or went to it (out); give 'counterparty', or request get-account-tx of the account.`,
      zh: `参数 'direction' 的值为 '${direction}'，它表示代币由 'counterparty' 转出（in）还是转入 'counterparty'（out）；请提供 'counterparty'，或改用该账户的 get-account-tx。`,
    },
    { parameter: 'direction' },
  )
}

/**
 * Checks the range of a list of records. Searched rows have no number, and their pages must be read one after
 * another: throws 'bad_request' for parameters that need numbers.
 */
export function checkRecordRange(requested: RequestedRange, isSearched: boolean): void {
  if (!isSearched) {
    const { after, ...others } = requested
    checkHeadRange(after === undefined ? others : { ...others, after })
    return
  }
  checkRange(requested)
  if (requested.head === 1) throw notSearched('head', HEAD)
  if (requested.page > 1n) throw notSearched('page', PAGE)
  for (const name of ['start_seq', 'end_seq'] as const) if (requested[name] !== undefined) throw notSearched(name, SEQ)
}

const notSearched = (name: string, { en, zh }: Text) =>
  badRequest(
    {
      en: `Parameter '${name}' does not go with these filters, whose rows are searched for: ${en}`,
      zh: `参数 '${name}' 不能与这些筛选条件同时使用，因为记录需要逐条查找：${zh}`,
    },
    { parameter: name, searched: 1 },
  )

const HEAD: Text = {
  en: 'such a search finds irreversible rows only; leave it out, or ask with a single filter.',
  zh: '这种方式只能查到不可逆的记录；请去掉此参数，或只使用一个筛选条件。',
}
const PAGE: Text = {
  en: "pages follow one another; request the first one, then continue with 'after' and the value of 'next' in the answer.",
  zh: "各页须依次读取；请先请求第一页，再以 'after' 传入响应中的 'next' 继续。",
}
const SEQ: Text = {
  en: "they have no seq; continue with 'after' and the id of the last row, or limit the blocks or the time.",
  zh: "这些记录没有 seq；请以 'after' 传入最后一条记录的 id 继续，或限定区块或时间。",
}

const refuseCombination = (first: string, second: string, { en, zh }: Text) =>
  badRequest(
    {
      en: `Parameters '${first}' and '${second}' cannot be combined: ${en}; leave one of them out.`,
      zh: `参数 '${first}' 与 '${second}' 不能同时使用：${zh}；请去掉其中一个。`,
    },
    { parameter: second },
  )
