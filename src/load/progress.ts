/** How far a load is. Heights count from 0, so `height` −1 is an empty store. */
export type Progress = {
  /** Last committed and published height. */
  readonly height: number
  /** Where this load is going: `to`, or the node's last irreversible block. */
  readonly target: number
  /** The node's last irreversible block. */
  readonly lib: number
  /** Documents that were committed since the store was taken over last: a load that begins anew counts from 0 again. */
  readonly transactions: number
  readonly records: number
}
