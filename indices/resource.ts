import { type DocOf, defineIndex, long } from './define.ts'

/** Gas and RAM of an owner (account or contract). Id: the name. */
export const resources = defineIndex({
  name: 'resources',
  kind: 'state',
  fields: {
    /** IOST pledged for it × 10^8. */
    gas_pledge: long(),
    /** Gas × 1000. */
    gas_limit: long(),
    gas_stock: long(),
    /** Block time of the last refresh, nanoseconds; 0: no pledge was ever made for it. */
    gas_updated: long(),
    /** Bytes. */
    ram_used: long(),
    /** RAM received minus RAM given in transfers of the token `ram`, purchases and sales included; bytes. */
    ram_total: long(),
  },
})
export type ResourceDoc = DocOf<typeof resources>

/** Of an owner that never had gas or RAM. */
export const NO_RESOURCES: Omit<ResourceDoc, 'id'> = {
  gas_pledge: 0n,
  gas_limit: 0n,
  gas_stock: 0n,
  gas_updated: 0n,
  ram_used: 0n,
  ram_total: 0n,
}
