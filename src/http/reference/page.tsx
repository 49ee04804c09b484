/** @jsxImportSource @kitajs/html */

import { type ApiAction, formatActionName, type Text } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { OPTION_TEXTS, OPTION_VALUES, type OptionDefaults } from '#actions/request/options.ts'
import type { Lang, Site } from '#explorer/page.ts'
import { ServicePage } from '#explorer/part/document.tsx'
import type { Assets } from '../assets.ts'
import { allCodes } from '../codes.ts'
import { formatRoute } from '../openapi/action-operation.ts'
import { formatMethodTemplate, rpcMethods } from '../rpc-methods.ts'
import { actionSection, definitions, formatCurl, type Html, html } from './action.ts'
import { commonParameters, headerTexts, paragraphs, words } from './text.ts'

/** Instructions for a task that needs several calls, or care. */
type Guide = {
  readonly id: string
  readonly title: Text
  readonly texts: readonly Text[]
  /** Name of the action that the guide calls, and parameters that the call adds or replaces. */
  readonly call: string
  readonly query: Readonly<Record<string, string>>
  /** Parameters of the example that the call omits. */
  readonly without: readonly string[]
}

const guides: readonly Guide[] = [
  {
    id: 'guide-key',
    title: { en: 'Get a key', zh: '获取 API key' },
    texts: [
      {
        en: 'The operator of the service issues keys. Send yours in the header X-API-Key. A key in the query string works, too, but ends up in logs and browser histories. A first call:',
        zh: 'API key 由服务的运营者发放。请放在请求头 X-API-Key 中发送；放在查询字符串中也可以，但会留在日志和历史记录里。第一次调用：',
      },
    ],
    call: 'get-overview',
    query: {},
    without: [],
  },
  {
    id: 'guide-follow',
    title: { en: 'Follow an account', zh: '跟踪账户' },
    texts: [
      {
        en: 'To receive new rows without polling, open a feed: the same query with format=sse is a text/event-stream, which EventSource and the client in /client.ts read. It first sends the rows from start_seq on (without it: none), then each new row as soon as its block is irreversible. The id of an event is the seq of its row, so EventSource resumes by itself after a disconnection (Last-Event-ID; a client that cannot send this header sends the parameter lastEventId). The first event, begin, has the id to continue with before any row came. A mark of the chain may follow the seq (501@…): keep each id as it came, and you get a reset if a repair has removed rows meanwhile. An event named cut (the client read too slowly), reset (blocks were removed: discard the rows after its seq) or end is the last one of its connection. With head=1, an event named packed is a row of a block that may still be replaced; the event dropped invalidates such rows from the block from_block on; a feed that is continued begins with it and sends those that are still valid again. Rows then have an id, and an irreversible row has the id of the packed row that it confirms. A feed counts as one request for each 1,000 rows or part of them; with filters, for each 1,000 rows searched.',
        zh: '若要无需轮询即时收到新记录，请打开事件流：在同一查询中使用 format=sse，返回 text/event-stream，可用 EventSource 或 /client.ts 中的客户端读取。它先返回从 start_seq 开始的记录（未提供则不返回已有记录），之后每当区块变为不可逆，就推送其中的新记录。事件的 id 即该记录的 seq，因此 EventSource 断线后会自动从原处继续（Last-Event-ID；无法发送此请求头的客户端可改用参数 lastEventId）。首个事件 begin 的 id 供尚未收到记录的客户端继续时使用。seq 之后可能附有所在链的标识（501@…）：请原样保存 id，这样若重连前有记录因修复被撤回，会收到 reset。名为 cut（客户端读取过慢）、reset（区块被撤回：请丢弃其 seq 之后的记录）或 end 的事件是该连接的最后一个事件。使用 head=1 时，packed 事件是所在区块仍可能被替换的记录；dropped 事件表示从 from_block 开始的此类记录已失效；重连后的事件流以该事件开始，并重新发送仍然有效的记录。此时每行都有 id：不可逆记录的 id 与它所确认的 packed 记录相同。事件流每 1000 行（不足 1000 行按 1000 行计）计为一次请求；使用筛选条件时，按每查找 1000 行计。',
      },
      {
        en: 'To poll instead, use seq: the number of a row in the list, from 1 in chain order, which never changes. Store the greatest seq that you have processed and request the rows after it: sort=asc and start_seq=LAST+1. No row is missed or returned twice; an empty page means that no new row is irreversible yet. Begin with start_seq=1:',
        zh: '如果采用轮询，请使用 seq，即记录按链上顺序从 1 开始的序号，永不改变。请保存已处理的最大 seq，并用 sort=asc 与 start_seq=上次的 seq+1 查询其后的记录。这样既不会遗漏，也不会重复；返回空列表表示还没有新的不可逆记录。从 start_seq=1 开始：',
      },
    ],
    call: 'get-account-tx',
    query: { sort: 'asc', start_seq: '1', numbers: 'string' },
    without: [],
  },
  {
    id: 'guide-deposits',
    title: { en: 'Credit each deposit exactly once', zh: '每笔充值恰好入账一次' },
    texts: [
      {
        en: 'With direction=in, get-account-tx returns only rows that moved tokens to the account: by a transfer, from a contract, or by issuing. Each row has token, amount and memo; a row of transferFreeze also has locked_until, before which the amount cannot be spent. Only irreversible rows are returned, and failed transactions have none. Credit by these fields alone: data of a call contains the requested amount, not the amount that moved.',
        zh: '使用 direction=in 时，get-account-tx 只返回转入该账户代币的记录，无论是直接转账、由合约转入还是增发所得。每条记录含 token、amount 与 memo；transferFreeze 的记录另有 locked_until，在此时间之前该笔金额不可使用。只返回不可逆的记录，失败的交易没有这类记录。请只按这些字段入账：调用的 data 表示请求的内容，而不是实际转入的金额。',
      },
      {
        en: 'Each row has seq, from 1 in chain order without gaps. Write the credit and the seq of its row in one transaction of your own database, and continue with start_seq=LAST+1, or with the same query as a feed (format=sse). After a crash, resume from the seq in your database; nothing is then credited twice or left out. Use direction=in alone or with one token. With further filters the query is a search: its rows have an id instead of seq, and you continue by passing next as after.',
        zh: '每条记录都有 seq，按链上顺序从 1 开始且不间断。请在自己数据库的同一个事务中写入该笔入账及其 seq，然后以 start_seq=上次的 seq+1 继续，或用同一查询打开事件流（format=sse）。即使程序崩溃，也能从数据库记录的位置继续，因此不会重复或遗漏入账。请只使用 direction=in，或再加一个 token：若使用更多筛选条件，则为搜索，记录以 id 代替 seq，此时请将 next 作为 after 传入以继续。',
      },
    ],
    call: 'get-account-tx',
    query: { direction: 'in', sort: 'asc', start_seq: '1', numbers: 'string' },
    without: ['page'],
  },
  {
    id: 'guide-year',
    title: { en: "A year's statement", zh: '年度对账单' },
    texts: [
      {
        en: 'get-account-assets with at_time at the end of the previous year and at the end of the year returns the opening and the closing balances: all IOST by state, and every other token. Each answer names its block.',
        zh: '以上一年年末与本年年末作为 at_time 调用 get-account-assets，即可得到期初与期末余额：按状态分列的全部 IOST，以及其他代币。响应会注明所属区块。',
      },
      {
        en: 'Download the changes in between as a file: with format=csv, csv=koinly uses the columns of Koinly, and csv=ledger on get-balance-history those of a general ledger, in which each balance is the previous one plus the change. Days are UTC, and the name of the file contains account, token and period. get-account-tx returns all tokens in one file.',
        zh: '其间的变动可下载为文件：使用 format=csv 时，csv=koinly 采用 Koinly 的列；get-balance-history 的 csv=ledger 采用总账的列，每个余额等于上一个余额加上变动。日期为 UTC，文件名包含账户、代币与期间。get-account-tx 将全部代币放在同一文件中。',
      },
    ],
    call: 'get-balance-history',
    query: {
      sort: 'asc',
      start_date: '2026-01-01',
      end_date: '2026-12-31',
      format: 'csv',
      csv: 'ledger',
    },
    without: ['page', 'size'],
  },
  {
    id: 'guide-wallet',
    title: { en: "A wallet's first screen", zh: '钱包首页' },
    texts: [
      {
        en: 'One call returns all assets of an account, as of one block: IOST that is available, frozen, in votes, pledged for gas or withdrawable as a reward, with the total, and every other token. Only available amounts can be spent at once. get-account-tx with head=1 returns the latest transfers; rows with status PACKED are pending. The same query with format=sse reports new ones.',
        zh: '一次调用取得账户在同一区块的全部资产：可用、冻结、投票、质押 gas 与待领取奖励的 IOST 及其总额，以及其他代币。只有可用部分可以立即使用。get-account-tx 配合 head=1 返回最新的转账，状态为 PACKED 的记录待确认；同一查询使用 format=sse 可即时收到新记录。',
      },
    ],
    call: 'get-account-assets',
    query: { numbers: 'string' },
    without: [],
  },
  {
    id: 'guide-voters',
    title: { en: 'Pay out voters', zh: '向投票者发放奖励' },
    texts: [
      {
        en: 'Download the complete list at one height with format=ndjson: one row per line, and a last line with complete, rows and block_height. Use the list only if it has that last line. Pages of a ranking change with the chain: two pages may be of two heights, so a list combined from pages can miss names or contain them twice.',
        zh: '请用 format=ndjson 一次取得同一高度的完整列表：每行一条记录，最后一行含 complete、rows 与 block_height。只有收到这最后一行，列表才完整。排名列表的分页随链变化，两页可能属于不同高度，因此逐页拼成的列表可能遗漏或重复。',
      },
    ],
    call: 'get-producer-voter',
    query: { format: 'ndjson', numbers: 'string' },
    without: ['page', 'size'],
  },
  {
    id: 'guide-holders',
    title: { en: 'Export the holders of a token', zh: '导出代币持有者' },
    texts: [
      {
        en: 'format=csv returns all holders at one height as a table; X-Block-Height and X-Total-Count give the height and the number of rows. An export counts as one request for each 1,000 rows or part of them. If the connection is interrupted, your client gets an error: start again. Import all columns as text: spreadsheets keep only 15 digits, and turn names into numbers, such as the account 00000 into 0 and the token 1e5 into 100000.',
        zh: 'format=csv 以表格形式返回同一高度的全部持有者；X-Block-Height 与 X-Total-Count 给出高度与总数。导出时每 1000 行（不足 1000 行按 1000 行计）计为一次请求。连接中断时客户端会收到错误，请重新导出。导入文件时请将所有列设为文本：电子表格只保留 15 位数字，还会把名称当作数字，例如把账户 00000 变成 0，把代币 1e5 变成 100000。',
      },
    ],
    call: 'get-token-holder',
    query: { format: 'csv', numbers: 'string' },
    without: ['page', 'size'],
  },
  {
    id: 'guide-iostabc',
    title: { en: 'Move from iostabc', zh: '从 iostabc 迁移' },
    texts: [
      {
        en: 'Add compat=iostabc to your calls and leave your program unchanged: answers have the format of the old interface. Unknown parameters are then ignored, and a query for something that does not exist succeeds without data. Remove the option as soon as your program no longer needs it.',
        zh: '在调用中加上 compat=iostabc，程序无需改动：响应采用旧接口的格式。此时会忽略未知参数，查询对象不存在时也返回成功而没有数据；程序不再依赖旧格式后，请去掉该选项。',
      },
    ],
    call: 'get-account-tx',
    query: { compat: 'iostabc' },
    without: [],
  },
  {
    id: 'guide-numbers',
    title: { en: 'Keep every digit', zh: '保留全部数字位' },
    texts: [
      {
        en: 'JavaScript, jq and spreadsheets read numbers as doubles and truncate balances and votes after about 15 digits, without an error. With numbers=string, such numbers are strings; calculate with a decimal or big integer type. The arguments of a call, in data, are as its publisher wrote them, numbers included: read integers above 2^53 there with a parser that keeps all digits.',
        zh: 'JavaScript、jq 与电子表格把数字读成双精度浮点数，余额与票数在约 15 位之后会被截断，而且不报错。使用 numbers=string 时，这类数字为字符串；请用十进制小数或大整数类型计算。data 中的调用参数与发布者写入的一致，其中的数字仍是数字；若其中有超过 2^53 的整数，请用能保留全部数字位的解析器读取。',
      },
    ],
    call: 'get-account-balance',
    query: { numbers: 'string' },
    without: [],
  },
  {
    id: 'guide-limits',
    title: { en: 'Stay within the limits', zh: '遵守调用限制' },
    texts: [
      {
        en: 'A key has a limit of requests per second and per UTC day. RateLimit-Remaining and RateLimit-Reset give the remaining requests and the seconds until the limit is reset. /usage reports the remaining requests of the second and the day, and does not count as a request. After 429 or 503, wait for the seconds in Retry-After, then send the same request again. Send If-None-Match: an unchanged answer is a short 304. Request 500 rows per page, or a complete list, instead of many small pages:',
        zh: '每个 API key 都有每秒与每日（UTC）的请求次数上限。RateLimit-Remaining 与 RateLimit-Reset 给出剩余次数与距重置的秒数；/usage 可查询每秒与当日的剩余次数，且不消耗请求次数。收到 429 或 503 后，请等待 Retry-After 指定的秒数再重发。请使用 If-None-Match：内容未变时只返回简短的 304。请每页读取 500 行或一次读取完整列表，而不是读取许多小页：',
      },
    ],
    call: 'get-account-tx',
    query: { size: '500' },
    without: [],
  },
]

/** The guides with calls of the served chain. Without an example, the call has only the guide's own parameters. */
const guideArticles = (actions: readonly ApiAction[], { examples, lang }: ReferenceOptions): Html =>
  html`${guides.map(({ id, title, texts: own, call, query, without }) => {
    const action = actions.find(each => formatActionName(each) === call)
    if (action === undefined) throw new TypeError(`A guide calls ${call}, which does not exist.`)
    const given = Object.entries(examples.get(action)?.params ?? {}).filter(([name]) => !without.includes(name))
    const command = formatCurl({ path: formatRoute(action), query: { ...Object.fromEntries(given), ...query } })
    return html`<article id="${id}"><details><summary><h3>${title[lang]}</h3></summary>
${texts(own, lang)}
<div><pre class="sample guide" tabindex="0" aria-label="curl">${command}</pre><button type="button" class="copy-text">${words.copy[lang]}</button></div>
</details></article>\n`
  })}`

type ReferenceOptions = {
  readonly lang: Lang
  readonly defaults: OptionDefaults
  /** Calls that have an answer on the served chain. */
  readonly examples: ReadonlyMap<ApiAction, Example>
  readonly site: Site
  readonly files: Assets['reference']
}

/**
 * The reference below the head of its page, made from the registry, the codes and the node methods. Its links
 * are relative.
 */
function referenceBody(actions: readonly ApiAction[], options: ReferenceOptions): Html {
  const { lang, site } = options
  const sections = buildSections(actions, options)
  const said = ['copied', 'needKey', 'sending', 'failed', 'cut', 'found'] as const
  return html`<div class="book">
<nav class="contents" aria-label="${words.contents[lang]}">
<p><label for="find">${words.search[lang]}</label><input id="find" type="search" autocomplete="off" spellcheck="false"></p>
<p id="found" role="status"></p>
<ul>${sections.map(([name]) => html`<li><a href="#${name}">${words[name][lang]}</a>${name === 'actions' ? contents(actions, lang) : html``}</li>\n`)}</ul>
</nav>
<main id="main"${said.map(name => html` data-${name.replace(/[A-Z]/, letter => `-${letter.toLowerCase()}`)}="${words[name][lang]}"`)}>
<h1>${words.title[lang]} <small>${site.version}</small></h1>
${texts(paragraphs.intro, lang)}
<p><a href="../openapi.json">${words.openapi[lang]}</a></p>
<p class="key"><label for="key">${words.key[lang]}</label><input id="key" type="text" autocomplete="off" spellcheck="false" aria-describedby="key-note" value="${site.testKey ?? ''}"></p>
<p id="key-note"><small>${words.keyNote[lang]}</small></p>
${sections.map(([name, body]) => section(name, body, lang))}
</main>
</div>
`
}

type Section = Exclude<keyof typeof paragraphs, 'intro'> | 'guides' | 'headers' | 'actions'

function buildSections(
  actions: readonly ApiAction[],
  options: ReferenceOptions,
): readonly (readonly [name: Section, body: Html])[] {
  const { lang, examples, defaults } = options
  return [
    ['guides', guideArticles(actions, options)],
    ['requests', commonList(lang)],
    ['answers', html``],
    ['numbers', html``],
    ['lists', html``],
    ['headers', definitions(headerTexts.map(([name, text]) => ({ name, note: '', body: text[lang] })))],
    ['errors', errorTable(lang)],
    [
      'actions',
      html`${actions.map(action =>
        actionSection(action, { lang, format: defaults.format, example: examples.get(action) }),
      )}`,
    ],
    [
      'rpc',
      definitions(
        rpcMethods.map(method => ({ name: formatMethodTemplate(method), note: '', body: method.title[lang] })),
      ),
    ],
    ['status', html``],
  ]
}

/** Sections of text can be collapsed. Guides and actions are always visible, and each of them can be collapsed. */
function section(name: Section, body: Html, lang: Lang): Html {
  const inner = html`${texts(name in paragraphs ? paragraphs[name as keyof typeof paragraphs] : [], lang)}
${body}`
  return name === 'actions' || name === 'guides'
    ? html`<section class="card" id="${name}"><h2>${words[name][lang]}</h2>
${inner}</section>\n`
    : html`<section class="card folded" id="${name}" data-find><details><summary><h2>${words[name][lang]}</h2></summary>
${inner}</details></section>\n`
}

const texts = (of: readonly Text[], lang: Lang): readonly Html[] => of.map(text => html`<p>${text[lang]}</p>\n`)

const contents = (actions: readonly ApiAction[], lang: Lang): Html =>
  html`<ul>${[...new Set(actions.map(({ module }) => module))].map(
    module =>
      html`<li>${module}<ul>${actions
        .filter(action => action.module === module)
        .map(
          action =>
            html`<li><a href="#${formatActionName(action)}" title="${action.title[lang]}">${action.action}</a></li>`,
        )}</ul></li>`,
  )}</ul>`

const commonList = (lang: Lang): Html =>
  definitions([
    ...commonParameters.map(([name, needed, text]) => ({
      name,
      note: (needed ? words.required : words.optional)[lang],
      body: text[lang],
    })),
    ...(Object.keys(OPTION_VALUES) as (keyof typeof OPTION_VALUES)[]).map(name => {
      const values = OPTION_VALUES[name].join(words.enumeration[lang])
      const text = `${OPTION_TEXTS[name][lang]}${words.space[lang]}`
      return {
        name,
        note: words.optional[lang],
        body: `${text}${words.values[lang]}${words.colon[lang]}${values}${words.stop[lang]}`,
      }
    }),
  ])

const errorTable = (lang: Lang): Html => html`<div class="wide" tabindex="0"><table class="rows">
<thead><tr>${[words.http, words.code, words.meaning].map(head => html`<th>${head[lang]}</th>`)}</tr></thead>
<tbody>${allCodes.map(({ status, code, title }) => html`<tr><td>${status}</td><td><code id="code-${code}">${code}</code></td><td>${title[lang]}</td></tr>\n`)}</tbody>
</table></div>`

/** The reference as a page of HTML. Its links are relative, so that it works behind any path prefix. */
export async function renderReference(actions: readonly ApiAction[], options: ReferenceOptions): Promise<string> {
  const { lang, site, files } = options
  return (
    <ServicePage
      shell={{
        site,
        root: '../',
        lang,
        path: '/docs',
        query: new URLSearchParams(),
        say: text => text[lang],
      }}
      other={lang === 'en' ? 'zh' : 'en'}
      title={words.title[lang]}
      description={paragraphs.intro[0]?.[lang] ?? ''}
      links={
        <>
          <link rel="stylesheet" href={`../assets/${files.style}`} />
          <script src={`../assets/${files.script}`} defer></script>
        </>
      }
    >
      {referenceBody(actions, options).text as 'safe'}
    </ServicePage>
  )
}
