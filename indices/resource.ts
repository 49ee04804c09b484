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
