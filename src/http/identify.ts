import { badRequest } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { AddressLimits } from '#keys/address-limits.ts'
import { type Described, type Keyring, TEST_KEY_ID } from '#keys/keyring.ts'
import type { Exchange } from './exchange.ts'

export type Identifying = {
  readonly keyring: Keyring
  readonly addresses: AddressLimits
}

/**
 * Who asks, by the key of the request. Throws 'rate_limited' for a network that has sent too many wrong keys with one
 * more, and for one that asks too much with the test key; other keys of such a network are let through.
 */
export const identified = async (
  exchange: Exchange,
  { keyring, addresses }: Identifying,
): Promise<Described> => {
  const key = keyOf(exchange)
  // An unknown network is not limited.
  const network = exchange.client?.network
  if (network === undefined) return keyring.describe(key)
  const wait = addresses.wrongFor(network)
  const described = await keyring.describe(key, wait > 0 ? 'hasty' : 'careful').catch((error: unknown) => {
    if (!(error instanceof Failure) || error.kind !== 'unauthorized') throw error
    if (wait > 0) throw tooManyWrong(wait)
    addresses.wrong(network)
    throw error
  })
  const { caller } = described
  const testWait = caller.id === TEST_KEY_ID ? addresses.test(network, caller.plan) : 0
  if (testWait > 0) throw tooManyTests(testWait)
  return described
}

const secondsOf = (ms: number) => ({ retryAfter: Math.max(1, Math.ceil(ms / 1_000)) })

const tooManyWrong = (ms: number): Failure =>
  new Failure('rate_limited', 'Too many requests with unknown API keys came from this network address.', {
    zh: '来自此网络地址的、使用不存在的 API key 的请求过多。',
    details: secondsOf(ms),
  })

const tooManyTests = (ms: number): Failure =>
  new Failure(
    'rate_limited',
    'This network address has used its share of the shared test key; ask the operator for an API key of your own.',
    {
      zh: '此网络地址已用完共享测试 key 的配额；请向运营方申请自己的 API key。',
      details: secondsOf(ms),
    },
  )

/** The key of a request, from `apikey` or `X-API-Key`; both only if they agree. */
export const keyOf = ({ keys, request }: Exchange): string => {
  const [key = ''] = keys
  if (keys.length > 1)
    throw badRequest(
      {
        en: `Parameter 'apikey' is given ${keys.length} times; give it once.`,
        zh: `参数 'apikey' 出现了 ${keys.length} 次，只能提供一次。`,
      },
      { parameter: 'apikey' },
    )
  const header = request.headers.get('x-api-key')
  if (header !== null && keys.length === 1 && header !== key)
    throw badRequest(
      {
        en: "Parameter 'apikey' and header X-API-Key differ; give only one of them.",
        zh: "参数 'apikey' 与请求头 X-API-Key 不一致；请只提供其中一个。",
      },
      { parameter: 'apikey' },
    )
  const given = keys.length === 1 ? key : (header ?? '')
  if (given === '')
    throw new Failure('unauthorized', "An API key is required; give it in the parameter 'apikey'.", {
      zh: "缺少 API key；请通过参数 'apikey' 提供。",
    })
  return given
}
