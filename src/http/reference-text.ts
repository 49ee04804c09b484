import type { Text } from '#actions/define.ts'

const say = (en: string, zh: string): Text => ({ en, zh })

/** Words of the reference that belong to no action: headings, table heads, marks. */
export const words = {
  title: say('iostlens: interface reference', 'iostlens 接口文档'),
  other: say('中文', 'English'),
  openapi: say('OpenAPI document', 'OpenAPI 文档'),
  requests: say('Requests', '请求'),
  answers: say('Answers', '响应'),
  numbers: say('Numbers', '数字'),
  lists: say('Lists', '列表'),
  headers: say('Headers', '响应头'),
  errors: say('Errors', '错误'),
  actions: say('Actions', '查询接口'),
  rpc: say('Node gateway', '节点网关'),
  status: say('Status', '服务状态'),
  parameters: say('Parameters', '参数'),
  fields: say('Fields of data', 'data 的字段'),
  noParameters: say('No parameters of its own.', '没有自己的参数。'),
  name: say('Name', '名称'),
  type: say('Type', '类型'),
  need: say('Needed', '必填'),
  meaning: say('Meaning', '说明'),
  field: say('Field', '字段'),
  header: say('Header', '响应头'),
  code: say('code', 'code'),
  http: say('HTTP', 'HTTP 状态码'),
  path: say('Path', '路径'),
  yes: say('yes', '是'),
  no: say('no', '否'),
  oneOfTwo: say('one of these names', '任选其一'),
  otherwise: say('Otherwise', '默认值'),
  rule: say('Must be', '取值'),
  alias: say('Also as', '别名'),
  sometimes: say('Not always there.', '不一定出现。'),
  exact: say('Text with numbers=string.', 'numbers=string 时为文本。'),
  tryIt: say('Try it', '试一试'),
  example: say('Example', '示例'),
} as const

/** Parameters every call knows, beside the options. */
export const commonParameters: readonly (readonly [name: string, needed: boolean, meaning: Text])[] = [
  [
    'apikey',
    true,
    say(
      'Your API key. The header X-API-Key may carry it instead; both only if they agree. Checked before anything else.',
      '您的 API key，也可以放在请求头 X-API-Key 中；两者都给时必须一致。服务最先校验它。',
    ),
  ],
  ['module', true, say('Module of the action; letter case is ignored.', '接口所属的模块，不区分大小写。')],
  ['action', true, say('The query; letter case is ignored.', '接口名称，不区分大小写。')],
]

/** Headers of answers. */
export const headerTexts: readonly (readonly [name: string, meaning: Text])[] = [
  ['X-Block-Height', say('Height of the block the answer is true for.', '响应数据所对应的区块高度。')],
  [
    'X-Block-Time',
    say('Time of that block, ISO-8601 UTC with milliseconds.', '该区块的时间，ISO-8601 UTC，精确到毫秒。'),
  ],
  [
    'ETag',
    say(
      'Strong tag of the body. Sent back in If-None-Match, an unchanged answer is 304 without a body.',
      '响应内容的强校验标签。放入 If-None-Match 再次请求时，内容未变则返回 304，不含响应体。',
    ),
  ],
  [
    'Cache-Control',
    say(
      'private, max-age=1: your own cache may show an answer for one second; shared caches may not keep it, since the key is in the URL. Errors are never kept.',
      'private, max-age=1：客户端缓存可使用一秒；由于 URL 中含有 API key，共享缓存不得保存。错误响应不缓存。',
    ),
  ],
  [
    'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset',
    say(
      'Requests your plan allows in the current window (one second, or the UTC day when fewer are left in it), how many are left, and seconds until it is full again.',
      '当前窗口（一秒；当日剩余次数更少时为当日，按 UTC 计）允许的请求次数、剩余次数，以及恢复满额所需的秒数。',
    ),
  ],
  ['Retry-After', say('Seconds to wait, with 429 and 503.', '需要等待的秒数，随 429 和 503 返回。')],
  [
    'X-Request-Id',
    say('Names the request; give it when you report a problem.', '请求编号；反馈问题时请提供。'),
  ],
]

/** Paragraphs by heading, plain text. */
export const paragraphs: {
  readonly [K in
    | 'intro'
    | 'requests'
    | 'answers'
    | 'numbers'
    | 'lists'
    | 'errors'
    | 'rpc'
    | 'status']: readonly Text[]
} = {
  intro: [
    say(
      'Read-only queries over the IOST chain: network, accounts, producers, blocks, contracts, tokens and transactions, and a read-only gateway to the node RPC.',
      'IOST 区块链的只读查询服务：网络概览、账户、节点、区块、合约、代币与交易，并提供只读的节点 RPC 网关。',
    ),
    say(
      'Only irreversible blocks are stored. Every answer is true at one height, told in its headers.',
      '仅存储不可逆区块。每个响应都对应同一个区块高度，见响应头。',
    ),
  ],
  requests: [
    say(
      'GET /api/ with parameters in the query; /api is the same. HEAD gives the headers alone. Other methods are 405. A query has at most 8,192 bytes and 64 parameters.',
      '使用 GET /api/，参数放在查询字符串中；/api 与之等价。HEAD 只返回响应头。其他方法返回 405。查询字符串最长 8192 字节，最多 64 个参数。',
    ),
    say(
      'Values are read strictly: a parameter that is repeated, malformed, out of range or unknown is a 400 that names it and the rule. 1e3, 0x10 or 1.0 are not numbers. The cache busters _, t and timestamp are ignored.',
      '参数按严格规则读取：重复、格式错误、超出范围或未知的参数一律返回 400，并指明参数名与规则。1e3、0x10、1.0 都不是合法的数字。用于绕过缓存的 _、t、timestamp 会被忽略。',
    ),
    say(
      'Browsers may call the service from any origin, without credentials.',
      '浏览器可从任意来源调用（CORS *），不携带凭据。',
    ),
  ],
  answers: [
    say(
      'A success is {"code":0,"message":"OK","data":{…}}, with the fields below under data. format=bare gives the fields at top level.',
      '成功时返回 {"code":0,"message":"OK","data":{…}}，下文各字段位于 data 中。format=bare 时字段直接位于顶层。',
    ),
    say(
      'compat=iostabc is for programs written against the old service: what is not found is a success with empty data, data of rows is JSON text, list actions answer unknown names with an empty list, unknown parameters are ignored.',
      'compat=iostabc 供为旧服务编写的程序使用：查不到时返回成功且 data 为空；记录的 data 为 JSON 文本；列表接口对未知名称返回空列表；忽略未知参数。',
    ),
    say(
      'created_at is ISO-8601 UTC with milliseconds; time and expiration are nanoseconds since 1970.',
      'created_at 为 ISO-8601 UTC 时间，精确到毫秒；time 与 expiration 为自 1970 年起的纳秒数。',
    ),
  ],
  numbers: [
    say(
      'A number is written with all its digits, never with an exponent and never rounded. A reader that turns numbers into doubles loses digits beyond 2^53: use numbers=string, and amounts, votes, supplies, rates, prices, gas figures and nanosecond times are text; counts, heights and index stay numbers.',
      '数字按全部位数写出，不使用指数形式，也不舍入。若客户端把数字解析为双精度浮点数，超过 2^53 的位数会丢失：请使用 numbers=string，此时数量、票数、供应量、比率、价格、gas 数值与纳秒时间均为文本；计数、高度与 index 仍为数字。',
    ),
    say('Amounts are in token units, without trailing zeros.', '数量以代币单位表示，不带末尾的零。'),
  ],
  lists: [
    say(
      'page counts from 1 (0 is read as 1); size is 20 unless given, at most 500. Every page is reachable, and each list adds page, size and total, the exact number of rows. A page beyond the end is an empty list.',
      'page 从 1 开始（0 视为 1）；size 默认 20，最大 500。任意页均可到达；每个列表都附带 page、size 与 total（准确的总行数）。超出末页返回空列表。',
    ),
    say(
      'Lists without page and size among their parameters are always whole. Rows of transactions run newest first; sort=asc is the exact reverse, whose pages do not move while blocks arrive.',
      '参数中没有 page 与 size 的列表总是完整返回。交易记录最新在前；sort=asc 为完全相反的顺序，新区块到来时其各页内容不会移动。',
    ),
  ],
  errors: [
    say(
      'A failure is {"code":…,"message":"…","data":{},"request_id":"…"}; HTTP status and code agree. The message is in English, or in Chinese with lang=zh or Accept-Language: zh. Branch on code, not on the message.',
      '失败时返回 {"code":…,"message":"…","data":{},"request_id":"…"}，HTTP 状态码与 code 一致。消息默认为英文；使用 lang=zh 或 Accept-Language: zh 时为中文。程序应根据 code 而不是消息来判断。',
    ),
    say(
      'While the load is more than 1,000 blocks behind, what is not found is 503 with code 5031 and not 404: it may exist.',
      '加载进度落后超过 1000 个区块时，查不到的对象返回 503（code 5031）而不是 404，因为它可能存在。',
    ),
  ],
  rpc: [
    say(
      "GET /rpc/… answers the node's own status, content type and body, byte for byte. The key goes in apikey and is not forwarded. POST is not supported.",
      'GET /rpc/… 原样返回节点的状态码、内容类型与响应体。API key 通过 apikey 传入，不会转发给节点。不支持 POST。',
    ),
    say(
      'sendTx, execTx and subscribe are temporarily unavailable (503).',
      'sendTx、execTx、subscribe 暂时不可用（503）。',
    ),
  ],
  status: [
    say(
      '/health: the process is up. /ready: 200 when answers are worth having, else 503 with the reason. Neither needs a key.',
      '/health：进程正在运行。/ready：可正常提供服务时返回 200，否则返回 503 及原因。两者都不需要 API key。',
    ),
  ],
}
