import type { SettingName } from './settings.ts'

/** Settings shared by several commands, grouped by purpose. */
export const NODE: readonly SettingName[] = ['node', 'node-timeout', 'node-requests', 'prove']
export const STORE: readonly SettingName[] = [
  'data',
  'store',
  'store-user',
  'store-password',
  'store-api-key',
  'store-ca',
  'store-timeout',
]
export const LOADING: readonly SettingName[] = ['replicas', 'partition-documents', 'lease']
export const SERVING: readonly SettingName[] = [
  'listen',
  'socket-mode',
  'base-path',
  'explorer',
  'public-url',
  'metrics-listen',
  'reuse-port',
  'drain',
  'test-key',
  'trusted-proxies',
  'deadline',
  'ranking-limit',
  'max-in-flight',
  'kept-answers',
  'max-exports',
  'max-feeds',
  'max-feeds-per-key',
  'export-stall',
  'max-lag',
  'ready-needs-node',
  'log-sample',
  'format',
  'compat',
  'prices',
  'prices-history',
  'profiles',
  'labels',
]
export const LOGGING: readonly SettingName[] = ['log-level', 'log-format']
