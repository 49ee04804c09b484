import {
  BaseConnection,
  Client,
  CloudConnectionPool,
  errors,
  Serializer,
  type TransportRequestOptions,
} from '@elastic/elasticsearch'
import type { Connection } from './connection.ts'
import { failureOf, type RequestOrigin } from './failures.ts'
import type { Request } from './request.ts'
import { type NamedRequest, parseAnswer, pauseBeforeRetry } from './request-json.ts'

type Params = Parameters<BaseConnection['request']>[0]
type Options = Parameters<BaseConnection['request']>[1]
type Calling = Pick<NamedRequest, 'what' | 'signal' | 'timeoutMs' | 'acceptedStatuses'>
/** A request of the client, which builds path and body and knows the type of the answer. */
type TypedRequest<T> = (client: Client, options: TransportRequestOptions) => Promise<T>

const clients = new WeakMap<Connection, Client>()

/**
 * Sends a request by the official client's typed API, over the same connection as all others. For requests that are rare
 * and safe to repeat: the client takes longer than the connection itself. Throws as `requestJson` does.
 */
export async function call<T>(connection: Connection, calling: Calling, request: TypedRequest<T>): Promise<T> {
  const { what, signal, timeoutMs = connection.requestTimeoutMs, acceptedStatuses = [] } = calling
  const client = clients.get(connection) ?? openClient(connection)
  clients.set(connection, client)
  const ignored = { requestTimeout: timeoutMs, ignore: [...acceptedStatuses] }
  const options = signal === undefined ? ignored : { ...ignored, signal }
  for (let attempt = 0; ; attempt++)
    try {
      return parseAnswer<T>({ connection, what }, String(await request(client, options)))
    } catch (error) {
      await pauseBeforeRetry(failureIn({ connection, what }, error), attempt)
    }
}

const failureIn = (origin: RequestOrigin, error: unknown): unknown =>
  error instanceof errors.ResponseError
    ? failureOf(origin, { status: error.statusCode ?? 0, text: String(error.body) })
    : error

/** Answers stay text, which `call` reads like every other answer. */
class TextSerializer extends Serializer {
  override deserialize<T>(json: string): T {
    return json as T
  }
}

/** `CloudConnectionPool` has one address, which it never gives up: hosts are the connection's own matter. */
function openClient(connection: Connection): Client {
  class Carrier extends BaseConnection {
    override async request(params: Params, { timeout, signal }: Options): Promise<never> {
      const { method, path, querystring, body } = params
      const { status, text } = await connection.send({
        method: method as Request['method'],
        path: querystring ? `${path}?${querystring}` : path,
        ...(typeof body === 'string' && body !== '' ? { body } : {}),
        ...(timeout === undefined ? {} : { timeoutMs: timeout }),
        signal,
      })
      const headers = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }
      // The client never asks for streams; its types have two results for one implementation.
      return { statusCode: status, headers, body: text } as never
    }

    override async close(): Promise<void> {}
  }
  return new Client({
    node: 'http://elasticsearch',
    Connection: Carrier,
    ConnectionPool: CloudConnectionPool,
    Serializer: TextSerializer,
    maxRetries: 0,
  })
}
