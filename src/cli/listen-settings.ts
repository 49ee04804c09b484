import { address, basePath, duration, fileMode, listenAddress, publicUrl } from './readers.ts'
import { flag, optional, withDefault } from './setting.ts'

/** Settings of the listening address and of the shutdown. */
export const listenSettings = {
  listen: withDefault({
    reader: listenAddress,
    value: 'HOST:PORT|unix:PATH',
    about:
      'Address to serve on; port 0 picks a free port. With unix:PATH a Unix socket for a reverse proxy on the same machine.',
    fallback: '127.0.0.1:8080',
  }),
  'socket-mode': withDefault({
    reader: fileMode,
    value: 'MODE',
    about: 'Access rights of the Unix socket of --listen; users with write access may send requests.',
    fallback: '660',
  }),
  'base-path': withDefault({
    reader: basePath,
    value: '/PATH',
    about:
      'Path prefix of every address, for a reverse proxy that passes paths on as they are; / is none. A proxy that removes its prefix needs no setting, because all links are relative.',
    fallback: '/',
  }),
  explorer: flag(
    'Also serve the explorer: pages for people, at / and without a key. A network address may open 600 pages in a minute.',
  ),
  'public-url': optional({
    reader: publicUrl,
    value: 'URL',
    about:
      'Public address of the service, for the absolute addresses that the explorer gives to search engines. Default: the address of each request, unless it came through a proxy; then addresses stay relative.',
  }),
  'metrics-listen': optional({
    reader: address,
    value: 'HOST:PORT',
    about:
      'Separate address for /metrics (Prometheus). Default: /metrics is served beside the API; load has none then.',
  }),
  'reuse-port': flag(
    'Share the port with other processes of the same user that have this setting, too (Linux): the system divides connections among them, so that one machine serves with several cores, and for a restart without a lost request the next process is started before this one is stopped. A Unix socket goes to the process that was started last.',
  ),
  drain: withDefault({
    reader: duration(0, 10 * 60_000),
    value: 'TIME',
    about:
      'Time that requests in progress get when the service stops; unfinished ones are answered with 503. A supervisor must wait longer before it kills.',
    fallback: '5s',
  }),
} as const
