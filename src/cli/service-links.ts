const LINK = '(?:tcp|udp|sctp)://\\S+'

/**
 * What Kubernetes puts into every container of a namespace for each Service there, and how the value looks: a Service
 * named iostlens sets IOSTLENS_PORT=tcp://10.0.0.1:8080, one named iostlens-es IOSTLENS_ES_PORT.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const LINKS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/_SERVICE_HOST$/, /^[\d.]+$|^[\da-fA-F:.]*:[\da-fA-F:.]*$/],
  [/_SERVICE_PORT(?:_[A-Z\d_]+)?$/, /^\d+$/],
  [/_PORT$/, new RegExp(`^${LINK}$`)],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)$/, new RegExp(`^${LINK}$`)],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PROTO$/, /^(?:tcp|udp|sctp)$/],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PORT$/, /^\d+$/],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_ADDR$/, /^[\da-fA-F:.]+$/],
]

/**
 * Whether an environment variable was set by Kubernetes to lead to a Service. The value is looked at, too: an operator's
 * IOSTLENS_PORT=8080 is a mistake to be named, and not a link.
 */
export const isServiceLink = (name: string, value: string): boolean =>
  LINKS.some(([names, values]) => names.test(name) && values.test(value))
