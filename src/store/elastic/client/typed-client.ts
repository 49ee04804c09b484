import { BaseConnection, Client, CloudConnectionPool, type TransportRequestOptions } from '@elastic/elasticsearch'
import type { Connection } from './connection.ts'
import { type NamedRequest, requestJson } from './request-json.ts'

type Params = Parameters<BaseConnection['request']>[0]
type Options = Parameters<BaseConnection['request']>[1]
type Calling = Pick<NamedRequest, 'what' | 'signal' | 'timeoutMs' | 'acceptedStatuses'>
/** A request of the client, which builds path and body and knows the type of the answer. */
type TypedRequest<T> = (client: Client, options: TransportRequestOptions) => Promise<T>

const clients = new WeakMap<Connection, Client>()

/**
 * Sends a request by the official client's typed API as `requestJson` does, over the same connection. For rare requests:
 * the client takes longer than the connection itself.
 */
export function call<T>(connection: Connection, calling: Calling, request: TypedRequest<T>): Promise<T> {
  const client = clients.get(connection) ?? openClient(connection)
  clients.set(connection, client)
  return request(client, { context: calling })
}

/** `CloudConnectionPool` has one address, which it never gives up: hosts are the connection's own matter. */
function openClient(connection: Connection): Client {
  class Carrier extends BaseConnection {
    override async request({ method, path, querystring, body }: Params, { context }: Options): Promise<never> {
      const answer = await requestJson(connection, {
        ...(context as Calling),
        method: method as NamedRequest['method'],
        path: querystring ? `${path}?${querystring}` : path,
        ...(typeof body === 'string' && body !== '' ? { body } : {}),
      })
      // Without a content type the client passes the answer on as it is. Its types know texts only.
      return { statusCode: 200, headers: { 'x-elastic-product': 'Elasticsearch' }, body: answer } as never
    }

    override async close(): Promise<void> {}
  }
  const options = { Connection: Carrier, ConnectionPool: CloudConnectionPool, maxRetries: 0 }
  return new Client({ node: 'http://elasticsearch', ...options })
}
