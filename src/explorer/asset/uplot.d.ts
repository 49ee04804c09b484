import type Plot from 'uplot'

declare global {
  var uPlot: typeof Plot
}
