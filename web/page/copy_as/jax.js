// SPDX-License-Identifier: Apache-2.0
import { columns, exactSums, image, spatial, taps } from "./problem.js";
import { body, call, counted, list, program, slices, tuple } from "./python.js";
import { writer } from "./steps.js";

const INDICES = ["i", "j", "k"];

const write = {
  reshape: (x, { shape }) => `${x}.reshape(${shape.join(", ")})`,
  transpose: (x, { order }) => `${x}.transpose(${order.join(", ")})`,
  crop: (x, step) => `${x}${slices(step)}`,
  pad: (x, { pads, mode }) => `jnp.pad(${x}, ${list(pads)}${mode === "constant" ? "" : `, mode="${mode}"`})`,
};

function own({ axes, batch, channels, extents, kernel, stride, dilation, pads, positions, cuts, filled, blocks }) {
  if (blocks) return null;
  const whole = image("channels_first", spatial(axes));
  if (cuts === "unfold") {
    const padded = filled === "constant";
    const given = [tuple(kernel), tuple(stride), padded ? list(pads) : '"VALID"'];
    if (dilation.some((step) => step !== 1)) given.push(`rhs_dilation=${tuple(dilation)}`);
    return {
      takes: whole, gives: columns(axes, { flat: false }), pads: padded,
      call: (x, into, indent) => ({ text: call("lax.conv_general_dilated_patches", [x, ...given, "precision=lax.Precision.HIGHEST"], indent) }),
    };
  }
  const large = extents.map((extent, axis) => extent + pads[axis][0] + pads[axis][1]);
  const names = INDICES.slice(0, axes);
  const reach = names.map((name, axis) => {
    const begin = dilation[axis] === 1 ? name : `${dilation[axis]} * ${name}`;
    const length = (positions[axis] - 1) * stride[axis] + 1;
    return `${begin} : ${begin} + ${length}${stride[axis] === 1 ? "" : ` : ${stride[axis]}`}`;
  });
  const each = axes === 1 ? `for i in range(${kernel[0]}):` : `for ${names.join(", ")} in np.ndindex(${kernel.join(", ")}):`;
  return {
    takes: [["N"], ["C"], ...taps(axes).map((tap) => [tap]), ...positions.map((_, axis) => [`l${axis}`])],
    gives: whole, pads: false,
    call: (x, into) => ({
      before: [
        `${into} = jnp.zeros(${tuple([batch, channels, ...large])}, ${x}.dtype)`,
        each,
        `    ${into} = ${into}.at[:, :, ${reach.join(", ")}].add(${x}[:, :, ${names.join(", ")}])`,
      ],
    }),
  };
}

function why(problem) {
  const { cuts, filled, dtype, mean, pads, extents } = problem;
  if (!["constant", "edge", "reflect", "symmetric", "wrap"].includes(filled)) return `jnp.pad has no mode for ${filled}: choose another padding.`;
  if (filled === "reflect" && pads.some((pair, axis) => Math.max(...pair) > 0 && extents[axis] === 1)) return "jnp.pad does not reflect an axis of length 1.";
  if (cuts !== "fold") return "";
  if (mean && !dtype.startsWith("float")) return "JAX has no fold, and its division gives no integers: choose float32 or float64.";
  if ((mean || dtype === "float16") && !exactSums(problem))
    return `JAX rounds every step of a sum${mean ? " and the mean again" : ""}; patchfold rounds once, so the last bits differ.`;
  return "";
}

export const jax = writer(why, own, (problem, steps) => {
  const { cuts, axes, dtype } = problem;
  const before = cuts === "fold" ? ["# JAX has no fold: the taps are added one after the other."] : [];
  const wide = dtype.endsWith("64");
  return program(
    wide ? "import jax" : null, "import jax.numpy as jnp", cuts === "fold" && axes > 1 ? "import numpy as np" : null,
    cuts === "unfold" ? "from jax import lax" : null, "",
    wide ? ['jax.config.update("jax_enable_x64", True)  # JAX has no 64-bit numbers otherwise', ""] : [],
    body(problem, steps, write, `x = ${counted(problem, "jnp")}`, "fold(x) / jnp.maximum(fold(jnp.ones_like(x)), 1)", { before, chained: true }),
    "print(result)",
  );
});
