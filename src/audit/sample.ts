/** Whether a height is one of `count` spread evenly over 0 … `last`. The last height always is, unless `count` is 0. */
export const spread =
  (last: number, count: number): ((height: number) => boolean) =>
  height => {
    if (count === 0) return false
    const share = (at: number): number => Math.floor((at * count) / (last + 1))
    return height === last || share(height) !== share(height - 1)
  }
