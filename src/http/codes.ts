import type { ApiAction, Compat, Text } from '#actions/define.ts'
import type { FailureKind } from '#failure/failure.ts'

/** How a failure is reported to callers. */
export type Code = {
  readonly status: number
  /** `code` of the body: stable, never reused. The HTTP status and a digit. */
  readonly code: number
  readonly title: Text
  /**
   * `own`: callers get the failure's message. `title`: they get the title, unless the failure was written for
   * them (PublicFailure). `never`: the details of a defect are only logged.
   */
  readonly message: 'own' | 'title' | 'never'
  /** Seconds for `Retry-After` when the failure has no `details.retryAfter`. */
  readonly retryAfter?: number
}

const DEFECT: Code = {
  status: 500,
  code: 5000,
  title: { en: 'Internal error.', zh: '服务内部错误。' },
  message: 'never',
}

const UNAVAILABLE: Code = {
  status: 503,
  code: 5030,
  title: { en: 'Temporarily unavailable; try again later.', zh: '服务暂时不可用，请稍后重试。' },
  message: 'title',
  retryAfter: 5,
}

/** The only mapping from failure kinds to HTTP statuses and API codes. */
export const codes: { readonly [K in FailureKind]: Code } = {
  bad_request: {
    status: 400,
    code: 4000,
    title: {
      en: 'A parameter is missing, malformed, repeated, unknown or out of range.',
      zh: '参数缺失、格式错误、重复、未知或超出范围。',
    },
    message: 'own',
  },
  unauthorized: {
    status: 401,
    code: 4010,
    title: { en: 'The API key is missing or unknown.', zh: '缺少 API key，或 API key 不存在。' },
    message: 'own',
  },
  forbidden: {
    status: 403,
    code: 4030,
    title: { en: 'The API key is revoked or expired.', zh: 'API key 已被吊销或已过期。' },
    message: 'own',
  },
  not_found: {
    status: 404,
    code: 4040,
    title: {
      en: 'The requested item does not exist, or the path is unknown.',
      zh: '所查询的对象不存在，或路径未知。',
    },
    message: 'own',
  },
  method_not_allowed: {
    status: 405,
    code: 4050,
    title: { en: 'Only GET, HEAD and OPTIONS are supported.', zh: '仅支持 GET、HEAD 和 OPTIONS。' },
    message: 'own',
  },
  replaced: {
    status: 409,
    code: 4090,
    title: {
      en: 'The block of the row that the request continues from was replaced.',
      zh: '续读起点的记录所在的区块已被取代。',
    },
    message: 'own',
  },
  uri_too_long: {
    status: 414,
    code: 4140,
    title: { en: 'The URL is too long.', zh: 'URL 过长。' },
    message: 'own',
  },
  rate_limited: {
    status: 429,
    code: 4290,
    title: { en: 'The rate limit of the API key is exceeded.', zh: '已超出 API key 的调用频率限制。' },
    message: 'own',
    retryAfter: 1,
  },
  loading: {
    status: 503,
    code: 5031,
    title: {
      en: 'The chain is still being loaded, and the requested data is not loaded yet.',
      zh: '链数据仍在加载，所查询的数据尚未加载。',
    },
    message: 'own',
    retryAfter: 30,
  },
  unavailable: UNAVAILABLE,
  damaged: {
    status: 503,
    code: 5033,
    title: {
      en: 'Part of the store is lost or damaged; the service cannot respond until the operator has repaired it.',
      zh: '存储数据缺失或已损坏，在运营者修复之前无法提供结果。',
    },
    message: 'title',
    retryAfter: 30,
  },
  bad_block: {
    status: 503,
    code: 5032,
    title: { en: 'The node returned an invalid response.', zh: '全节点返回的数据无效。' },
    message: 'never',
    retryAfter: 5,
  },
  deadline: {
    status: 504,
    code: 5040,
    title: { en: 'The request took too long.', zh: '处理超时。' },
    message: 'title',
  },
  defect: DEFECT,
  usage: DEFECT,
  // The store is another version's, or another program's: the operator has to act, and callers come again.
  conflict: UNAVAILABLE,
}

/** All codes, each once, in their order. */
export const allCodes: readonly Code[] = [
  ...new Map(Object.values(codes).map(code => [code.code, code])).values(),
].toSorted((a, b) => a.code - b.code)

/** Failures that any query can have. */
const EVERY_QUERY: readonly FailureKind[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'method_not_allowed',
  'uri_too_long',
  'rate_limited',
  'unavailable',
  'damaged',
  'deadline',
  'defect',
]

/**
 * The failures of a query, by code. With `compat=iostabc`, a query for a thing that does not exist succeeds
 * without data.
 */
export function listCodes(
  { fails }: Pick<ApiAction, 'fails'>,
  { compat }: { readonly compat: Compat } = { compat: 'none' },
): readonly Code[] {
  const own = fails.filter(kind => compat === 'none' || kind !== 'not_found')
  return [...EVERY_QUERY, ...own].map(kind => codes[kind]).toSorted((a, b) => a.code - b.code)
}
