import type { Text } from '#actions/define.ts'

const say = (en: string, zh: string): Text => ({ en, zh })

/** Words of the reference that belong to no action: headings, column heads, marks, punctuation. */
export const words = {
  stop: say('.', '。'),
  comma: say(', ', '，'),
  enumeration: say(', ', '、'),
  colon: say(': ', '：'),
  /** Between two sentences, or a word and a name. */
  space: say(' ', ''),
  title: say('iostlens API reference', 'iostlens 接口文档'),
  openapi: say('OpenAPI document', 'OpenAPI 文档'),
  requests: say('Requests', '请求'),
  answers: say('Responses', '响应'),
  numbers: say('Numbers', '数字'),
  lists: say('Lists', '列表'),
  headers: say('Headers', '响应头'),
  errors: say('Errors', '错误'),
  actions: say('Actions', '查询接口'),
  rpc: say('Node RPC gateway', '全节点 RPC 网关'),
  status: say('Status', '服务状态'),
  parameters: say('Parameters', '参数'),
  fields: say('Response fields (data)', '返回字段（data）'),
  noParameters: say('No specific parameters.', '无专用参数。'),
  meaning: say('Description', '说明'),
  code: say('code', 'code'),
  http: say('HTTP', 'HTTP 状态码'),
  oneOfTwo: say('one of the two names', '二选一'),
  otherwise: say('Default', '默认值'),
  rule: say('Format', '取值'),
  values: say('Values', '取值'),
  alias: say('Alias', '别名'),
  sometimes: say('Optional.', '可选字段。'),
  exact: say('String if numbers=string.', 'numbers=string 时为字符串。'),
  tryIt: say('Try it', '试一试'),
  contents: say('Contents', '目录'),
  guides: say('Guides', '指南'),
  required: say('required', '必填'),
  requiredMark: say(' (required)', '（必填）'),
  optional: say('optional', '可选'),
  send: say('Send', '发送'),
  answer: say('Example response', '响应示例'),
  answerTo: say('Response to', '接口响应'),
  answerAt: say('From the chain that is served:', '取自本服务所加载的链：'),
  noExample: say(
    'No example: nothing on the loaded chain answers this query yet.',
    '暂无示例：已加载的链上还没有可供此查询返回的内容。',
  ),
  shortened: say(
    'Shown with fewer rows or shorter texts; the form shows the complete response.',
    '此处只列出部分行，较长的文本有所截短；使用上方表单可查看完整响应。',
  ),
  samples: say('Samples', '代码示例'),
  copy: say('Copy', '复制'),
  copied: say('Copied', '已复制'),
  key: say('API key', 'API key'),
  keyNote: say(
    'Used by the forms on this page. It is sent in the header X-API-Key and kept nowhere else.',
    '供本页的表单使用。它只放在请求头 X-API-Key 中发送，不会保存到任何地方。',
  ),
  needKey: say('Enter your API key at the top of the page first.', '请先在页面顶部填写 API key。'),
  sending: say('Sending …', '正在发送……'),
  failed: say('The request failed:', '请求失败：'),
  cut: say('… (the rest is not shown)', '……（其余内容未显示）'),
  search: say('Search the reference', '搜索文档'),
  found: say('Matches: {}', '匹配 {} 项'),
  numbersHint: say(
    'This response contains numbers with more digits than JavaScript, jq and spreadsheets keep. To get them as strings, add',
    '此响应包含位数较多的数字，JavaScript、jq 和电子表格会丢失其精度。要以字符串返回这些数字，请加上参数',
  ),
  numbersFields: say('These are', '涉及的字段：'),
  errorsOfAction: say(
    'The message says what is wrong and what to do. Codes of this action:',
    '消息会说明原因和处理办法。此接口可能返回的 code：',
  ),
} as const

/** Parameters of every call, in addition to the options. */
export const commonParameters: readonly (readonly [name: string, needed: boolean, meaning: Text])[] = [
  [
    'apikey',
    true,
    say(
      'Your API key. It can be sent in the header X-API-Key instead; if both are given, they must be equal. The key is checked first.',
      '您的 API key。也可以放在请求头 X-API-Key 中；若两处都提供，必须一致。服务会首先校验 API key。',
    ),
  ],
  ['module', true, say('Module that the action belongs to; not case-sensitive.', '接口所属的模块，不区分大小写。')],
  ['action', true, say('Name of the query; not case-sensitive.', '接口名称，不区分大小写。')],
]

export const headerTexts: readonly (readonly [name: string, meaning: Text])[] = [
  ['X-Block-Height', say('Block height the response is valid for.', '响应数据对应的区块高度。')],
  [
    'X-Block-Time',
    say('Time of that block, ISO-8601 UTC with milliseconds.', '该区块的时间，ISO-8601 UTC，精确到毫秒。'),
  ],
  [
    'X-Total-Count',
    say('On a whole list (format=ndjson or csv): number of rows.', '仅用于完整列表（format=ndjson 或 csv）：总行数。'),
  ],
  [
    'Link',
    say(
      'On a page of a list: the pages first, prev, next and last (RFC 8288), as addresses relative to the request, without the key.',
      '列表分页的 first、prev、next、last 链接（RFC 8288），为相对地址，不含 API key。',
    ),
  ],
  [
    'ETag',
    say(
      'Strong entity tag of the body. Send it in If-None-Match; if the response has not changed, the status is 304 and there is no body.',
      '响应体的强 ETag。再次请求时放入 If-None-Match，若内容未变则返回 304，不含响应体。',
    ),
  ],
  [
    'Cache-Control',
    say(
      'private, max-age=1: the client may cache a response for one second. Shared caches must not store it, since the URL contains the key. Errors are not cached.',
      'private, max-age=1：客户端可缓存一秒；由于 URL 中含有 API key，共享缓存不得保存。错误响应不缓存。',
    ),
  ],
  [
    'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset',
    say(
      'Number of requests allowed in the current window, number of requests left, and seconds until the window is reset. The window is one second, or the UTC day if fewer requests are left in the day.',
      '当前窗口允许的请求次数、剩余次数，以及距窗口重置的秒数。窗口为一秒；若当日（UTC）剩余次数更少，则为当日。',
    ),
  ],
  [
    'Retry-After',
    say(
      'Seconds to wait before the next attempt; sent with 429 and 503.',
      '重试前需要等待的秒数，随 429 和 503 返回。',
    ),
  ],
  [
    'X-Request-Id',
    say('Identifies the request; please include it when you report a problem.', '请求编号；反馈问题时请提供。'),
  ],
]

/** Paragraphs by heading, as plain text. */
export const paragraphs: {
  readonly [K in 'intro' | 'requests' | 'answers' | 'numbers' | 'lists' | 'errors' | 'rpc' | 'status']: readonly Text[]
} = {
  intro: [
    say(
      'Read-only queries of the IOST blockchain: network, accounts, producers, blocks, contracts, tokens and transactions; and a read-only gateway to the RPC of a node.',
      'IOST 区块链的只读查询服务：网络概览、账户、生产者（出块节点）、区块、合约、代币与交易；并提供只读的全节点 RPC 网关。',
    ),
    say(
      'Only irreversible blocks are stored. Every response reflects a single block height, given in the response headers.',
      '仅存储不可逆区块。每个响应中的数据都对应同一区块高度，该高度在响应头中给出。',
    ),
  ],
  requests: [
    say(
      'Use GET /api/ (or /api) with the parameters in the query string. HEAD returns only the headers. Other methods return 405. A query string has at most 8,192 bytes and 64 parameters.',
      '使用 GET /api/（或 /api），参数放在查询字符串中。HEAD 只返回响应头。其他方法返回 405。查询字符串最长 8192 字节，最多 64 个参数。',
    ),
    say(
      'Parameters are validated strictly. A parameter that is repeated, malformed, out of range or unknown returns 400; the message names the parameter and the rule. 1e3, 0x10 and 1.0 are not valid numbers. The parameters _, t and timestamp, often used to bypass caches, are ignored.',
      '参数校验严格：重复、格式错误、超出范围或未知的参数一律返回 400，消息中会指明参数名与规则。1e3、0x10、1.0 都不是合法的数字。常用于绕过缓存的 _、t、timestamp 参数会被忽略。',
    ),
    say(
      'Browsers may call the service from any origin (CORS), without credentials.',
      '浏览器可从任意来源跨域调用（CORS），不携带凭据。',
    ),
  ],
  answers: [
    say(
      'Successful responses look like {"code":0,"message":"OK","data":{…}}; the fields described below are in data. With format=bare, the fields are at the top level.',
      '成功时返回 {"code":0,"message":"OK","data":{…}}，下文各字段位于 data 中。format=bare 时字段直接位于顶层。',
    ),
    say(
      'compat=iostabc is for clients of the old iostabc interface: an item that is not found is a success with empty data, data of rows is JSON text, lists of unknown names are empty, and unknown parameters are ignored.',
      'compat=iostabc 兼容旧版 iostabc 接口的返回格式：查询对象不存在时返回成功且 data 为空；记录的 data 为 JSON 文本；名称不存在时列表接口返回空列表；忽略未知参数。',
    ),
    say(
      'created_at is ISO-8601 UTC with milliseconds; time and expiration are nanoseconds since 1970.',
      'created_at 为 ISO-8601 UTC 时间，精确到毫秒；time 与 expiration 为自 1970 年起的纳秒数。',
    ),
  ],
  numbers: [
    say(
      'Numbers have all their digits; they are never rounded and never use an exponent. A client that parses numbers as doubles loses digits beyond 2^53. With numbers=string, amounts, votes, supplies, rates, prices, gas values and nanosecond times are strings; counts, heights and index remain numbers.',
      '数字保留全部有效位，不使用科学计数法，也不舍入。若客户端把数字解析为双精度浮点数，超过 2^53 的数字会丢失精度。使用 numbers=string 时，数量、票数、供应量、比率、价格、gas 数值与纳秒时间均以字符串返回；计数、高度与 index 仍为数字。',
    ),
    say('Amounts are given in token units, without trailing zeros.', '数量以代币单位表示，不带末尾的零。'),
  ],
  lists: [
    say(
      'page starts at 1 (0 is read as 1); size is 20 by default and at most 500. Every page can be requested, at any depth. Each list also returns page, size and total, the exact number of rows. A page beyond the end is an empty list.',
      'page 从 1 开始（0 等同于 1）；size 默认为 20，最大为 500。可访问任意页，无深度限制。每个列表还返回 page、size 与 total（准确的总行数）。超出末页时返回空列表。',
    ),
    say(
      'Lists without the parameters page and size are always complete. Transaction lists start with the newest row; sort=asc returns the exact reverse, whose pages do not shift when new blocks arrive.',
      '没有 page 与 size 参数的列表始终完整返回。交易记录最新的在前；sort=asc 时顺序完全相反，并且新区块到来时各页内容不会移动。',
    ),
    say(
      'start_block, end_block, start_time, end_time, start_date, end_date, start_seq and end_seq limit a list to a range that includes both ends: a time includes the whole of its last given unit, a date the whole UTC day; several of them hold together, and total and pages refer to the limited list.',
      'start_block、end_block、start_time、end_time、start_date、end_date、start_seq、end_seq 用于限定区间，区间含首尾：时间包含其末位单位的全部时长，日期包含该 UTC 日全天；可同时使用多个条件，total 与分页按筛选结果计算。',
    ),
  ],
  errors: [
    say(
      'Errors look like {"code":…,"message":"…","data":{},"request_id":"…"}; the HTTP status corresponds to the code. The message is in English, or in Chinese with lang=zh or Accept-Language: zh. Programs should check the code, not the message.',
      '失败时返回 {"code":…,"message":"…","data":{},"request_id":"…"}，HTTP 状态码与 code 对应。消息默认为英文；使用 lang=zh 或 Accept-Language: zh 时为中文。程序应根据 code 判断，而不是根据消息。',
    ),
    say(
      'While loading is more than 1,000 blocks behind the chain, an item that is not found returns 503 with code 5031 instead of 404, since it may exist.',
      '加载进度落后链上超过 1000 个区块时，查不到的对象返回 503（code 5031）而不是 404，因为该对象可能存在。',
    ),
  ],
  rpc: [
    say(
      'GET /rpc/… returns the status and body of the node, byte for byte, as JSON or else as plain text. The API key is given in apikey and is not forwarded. POST is not supported.',
      'GET /rpc/… 原样返回全节点的状态码与响应体（JSON，否则为纯文本）。API key 通过 apikey 传入，不会转发给全节点。不支持 POST。',
    ),
    say(
      'sendTx, execTx and subscribe are temporarily unavailable (503).',
      'sendTx、execTx、subscribe 暂时不可用（503）。',
    ),
  ],
  status: [
    say(
      '/health returns 200 while the process is running. /ready returns 200 when the service is able to answer from its store, otherwise 503 with the reason. Neither requires a key.',
      '进程运行时，/health 返回 200。服务能够从存储中作答时，/ready 返回 200，否则返回 503 及原因。两者都不需要 API key。',
    ),
  ],
}
