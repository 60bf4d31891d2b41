package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// function begins a function.
func function(c *build.Context, name, signature string, doc ...string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr(signature)
	c.Pragma("noescape")
	c.Doc(doc...)
}

// loop repeats what body emits for the elements i, i + step and so on of a slice, whose length is a multiple of step.
func loop(c *build.Context, slice string, step uint32, body func(i reg.Register)) {
	n, i := c.Load(c.Param(slice).Len(), c.GP64()), c.GP64()
	c.XORQ(i, i)
	c.JMP(operand.LabelRef("check"))
	c.Label("loop")
	body(i)
	c.ADDQ(operand.U32(step), i)
	c.Label("check")
	c.CMPQ(i, n)
	c.JLT(operand.LabelRef("loop"))
}

// end ends a function that has used vectors of 256 bits.
func end(c *build.Context) {
	c.VZEROUPPER()
	c.RET()
}

// base loads the place of the first element of a slice, or a pointer.
func base(c *build.Context, name string) reg.Register {
	return c.Load(c.Param(name).Base(), c.GP64())
}

func pointer(c *build.Context, name string) operand.Mem {
	return operand.Mem{Base: c.Load(c.Param(name), c.GP64())}
}

// at is element i of elements of a size.
func at(first, i reg.Register, size uint8) operand.Mem {
	return operand.Mem{Base: first, Index: i, Scale: size}
}

// memory is where an argument of a function is.
func memory(c *build.Context, name string) operand.Mem {
	basic, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// all returns a vector of copies of an argument of 32 bits.
func all(c *build.Context, name string) reg.VecVirtual {
	v := c.YMM()
	c.VBROADCASTSS(memory(c, name), v)
	return v
}

// count loads by how many bits to shift.
func count(c *build.Context, name string) reg.VecVirtual {
	v := c.XMM()
	c.VMOVD(c.Load(c.Param(name), c.GP32()), v)
	return v
}

// signBits returns a vector of the sign bits of eight numbers of 32 bits.
func signBits(c *build.Context) reg.VecVirtual {
	sign := c.YMM()
	c.VPCMPEQD(sign, sign, sign)
	c.VPSLLD(operand.U8(31), sign, sign)
	return sign
}

func zero(c *build.Context) reg.VecVirtual {
	z := c.YMM()
	c.VXORPS(z, z, z)
	return z
}

// binBits is lanes.BinBits.
const binBits = 19

// unordered is the comparison that holds if one of two numbers is a NaN.
const unordered = 3

// kind is the instructions for one type of numbers.
type kind struct {
	size                     uint8 // bytes of a number
	move, broadcast, compare func(...operand.Op)
	sub, mul, min, max       func(...operand.Op)
	toIntegers               func(...operand.Op)
	integers                 func(reg.VecVirtual) reg.Register // the register of the integers
	signs                    func(_, _ operand.Op)
}

func look32(c *build.Context) {
	function(c, "look32AVX2", "func(scores, masses []float32, sLo, sScale, sLast, mLo, mScale, mLast float32, pairs []uint32, ends *[4][8]float32) bool",
		"look32AVX2 is Look for a multiple of eight events. It sets the ends of each eighth, and reports whether no number is a NaN.")
	whole := func(v reg.VecVirtual) reg.Register { return v }
	look(c, &kind{4, c.VMOVUPS, c.VBROADCASTSS, c.VCMPPS, c.VSUBPS, c.VMULPS, c.VMINPS, c.VMAXPS, c.VCVTTPS2DQ, whole, c.VMOVMSKPS})
}

func look64(c *build.Context) {
	function(c, "look64AVX2", "func(scores, masses []float64, sLo, sScale, sLast, mLo, mScale, mLast float64, pairs []uint32, ends *[4][4]float64) bool",
		"look64AVX2 is Look for a multiple of four events. It sets the ends of each fourth, and reports whether no number is a NaN.")
	half := func(v reg.VecVirtual) reg.Register { return v.AsX() }
	look(c, &kind{8, c.VMOVUPD, c.VBROADCASTSD, c.VCMPPD, c.VSUBPD, c.VMULPD, c.VMINPD, c.VMAXPD, c.VCVTTPD2DQY, half, c.VMOVMSKPD})
}

func look(c *build.Context, k *kind) {
	scores, masses, pairs := base(c, "scores"), base(c, "masses"), base(c, "pairs")
	constant := func(name string) reg.VecVirtual {
		v := c.YMM()
		k.broadcast(memory(c, name), v)
		return v
	}
	sLo, sScale, sLast := constant("sLo"), constant("sScale"), constant("sLast")
	mLo, mScale, mLast := constant("mLo"), constant("mScale"), constant("mLast")
	least, nan := zero(c), zero(c)
	sMin, sMax, mMin, mMax := c.YMM(), c.YMM(), c.YMM(), c.YMM()
	k.move(operand.Mem{Base: scores}, sMin)
	k.move(sMin, sMax)
	k.move(operand.Mem{Base: masses}, mMin)
	k.move(mMin, mMax)
	cell := func(x, lo, scale, last reg.VecVirtual) {
		k.sub(lo, x, x)
		k.mul(scale, x, x)
		k.min(last, x, x)
		k.max(least, x, x)
		k.toIntegers(x, k.integers(x))
	}
	loop(c, "scores", uint32(32/k.size), func(i reg.Register) {
		s, m, isNaN := c.YMM(), c.YMM(), c.YMM()
		k.move(at(scores, i, k.size), s)
		k.move(at(masses, i, k.size), m)
		k.min(s, sMin, sMin)
		k.max(s, sMax, sMax)
		k.min(m, mMin, mMin)
		k.max(m, mMax, mMax)
		k.compare(operand.U8(unordered), s, m, isNaN)
		c.VORPS(isNaN, nan, nan)
		cell(s, sLo, sScale, sLast)
		cell(m, mLo, mScale, mLast)
		c.VPSLLD(operand.U8(binBits), k.integers(s), k.integers(s))
		c.VPOR(k.integers(m), k.integers(s), k.integers(s))
		c.VMOVDQU(k.integers(s), at(pairs, i, 4))
	})
	ends := pointer(c, "ends")
	for place, v := range []reg.VecVirtual{sMin, sMax, mMin, mMax} {
		k.move(v, ends.Offset(32*place))
	}
	signs, number := c.GP32(), c.GP8()
	k.signs(nan, signs)
	c.TESTL(signs, signs)
	c.SETEQ(number)
	c.Store(number, c.ReturnIndex(0))
	end(c)
}

func words(c *build.Context) {
	function(c, "wordsAVX2", "func(dst []uint64, scores []float32, bins []uint32, mask, base, binShift, first uint32)",
		"wordsAVX2 is Words for a multiple of eight events.")
	dst, scores, bins := base(c, "dst"), base(c, "scores"), base(c, "bins")
	mask, from, shift, index := all(c, "mask"), all(c, "base"), count(c, "binShift"), all(c, "first")
	sign, none, eight := signBits(c), zero(c), c.YMM()
	c.VPSRLD(operand.U8(28), sign, eight) // 2^31 >> 28
	bytes, places := c.GP64(), c.YMM()
	c.MOVQ(operand.U64(0x0706050403020100), bytes)
	c.VMOVQ(bytes, places.AsX())
	c.VPMOVZXBD(places.AsX(), places)
	c.VPADDD(places, index, index)

	loop(c, "dst", 8, func(i reg.Register) {
		upper, lower, flip, low, high := c.YMM(), c.YMM(), c.YMM(), c.YMM(), c.YMM()
		c.VADDPS(at(scores, i, 4), none, upper) // -0.0 + 0 = 0.0
		c.VPSRAD(operand.U8(31), upper, flip)
		c.VPOR(sign, flip, flip)
		c.VPXOR(flip, upper, upper)
		c.VPSUBD(from, upper, upper)
		c.VPAND(at(bins, i, 4), mask, lower)
		c.VPSLLD(shift, lower, lower)
		c.VPOR(index, lower, lower)
		c.VPADDD(eight, index, index)
		c.VPUNPCKLDQ(upper, lower, low) // the words 0, 1, 4 and 5
		c.VPUNPCKHDQ(upper, lower, high)
		to := at(dst, i, 8)
		c.VMOVDQU(low.AsX(), to)
		c.VMOVDQU(high.AsX(), to.Offset(16))
		c.VEXTRACTI128(operand.U8(1), low, to.Offset(32))
		c.VEXTRACTI128(operand.U8(1), high, to.Offset(48))
	})
	end(c)
}

func decode(c *build.Context) {
	function(c, "decodeAVX2", "func(words []uint64, base, binShift uint32, scores []float64, bins []uint32)",
		"decodeAVX2 is Decode for a multiple of eight words.")
	words, scores, bins := base(c, "words"), base(c, "scores"), base(c, "bins")
	from, shift, sign, ones := all(c, "base"), count(c, "binShift"), signBits(c), c.YMM()
	c.VPCMPEQD(ones, ones, ones)
	loop(c, "words", 8, func(i reg.Register) {
		first, second, lower, upper, flip := c.YMM(), c.YMM(), c.YMM(), c.YMM(), c.YMM()
		c.VMOVUPS(at(words, i, 8), first)
		c.VMOVUPS(at(words, i, 8).Offset(32), second)
		// Halves of the words 0, 1, 4, 5, 2, 3, 6 and 7, and then in order.
		c.VSHUFPS(operand.U8(0b10_00_10_00), second, first, lower)
		c.VSHUFPS(operand.U8(0b11_01_11_01), second, first, upper)
		c.VPERMQ(operand.U8(0b11_01_10_00), lower, lower)
		c.VPERMQ(operand.U8(0b11_01_10_00), upper, upper)
		c.VPSRLD(shift, lower, lower)
		c.VMOVDQU(lower, at(bins, i, 4))
		c.VPADDD(from, upper, upper)
		c.VPCMPGTD(ones, upper, flip) // all bits, if the highest one is 0
		c.VPOR(sign, flip, flip)
		c.VPXOR(flip, upper, upper)
		low, high := c.YMM(), c.YMM()
		c.VCVTPS2PD(upper.AsX(), low)
		c.VEXTRACTF128(operand.U8(1), upper, upper.AsX())
		c.VCVTPS2PD(upper.AsX(), high)
		c.VMOVUPD(low, at(scores, i, 8))
		c.VMOVUPD(high, at(scores, i, 8).Offset(32))
	})
	end(c)
}

// The numbers of a vector of four that an instruction takes from its other operand.
const (
	last       = 0b1000
	firstThree = 0b0111
)

func cross(c *build.Context) {
	function(c, "crossAVX2", "func(rows *float64, y, x *[4]float64, bins []uint32, weights, d []float64)",
		"crossAVX2 is Cross for a multiple of four events. The rows are rows of eight numbers.")
	rows, bins, weights, d := c.Load(c.Param("rows"), c.GP64()), base(c, "bins"), base(c, "weights"), base(c, "d")
	ofY, ofX := pointer(c, "y"), pointer(c, "x")
	y, x, none := c.YMM(), c.YMM(), zero(c)
	c.VMOVUPD(ofY, y)
	c.VMOVUPD(ofX, x)
	loop(c, "bins", 4, func(i reg.Register) {
		var p [4]reg.VecVirtual
		for k := range p {
			p[k] = c.YMM()
			row := at(rows, c.GP64(), 1)
			c.MOVL(at(bins, i, 4).Offset(4*k), row.Index.(reg.GPVirtual).As32())
			c.SHLQ(operand.U8(6), row.Index)
			a, b, w, moved := c.YMM(), c.YMM(), c.YMM(), c.YMM()
			c.VMOVUPD(row, a)
			c.VMOVUPD(row.Offset(32), b)
			c.VBROADCASTSD(at(weights, i, 8).Offset(8*k), w)
			c.VMULPD(y, a, p[k])
			c.VMULPD(x, b, moved)
			c.VADDPD(moved, p[k], p[k])
			c.VMULPD(w, a, moved)
			c.VBLENDPD(operand.U8(last), none, moved, moved)
			c.VADDPD(moved, y, y)
			c.VMULPD(w, b, b)
			c.VBLENDPD(operand.U8(last), none, b, moved)
			c.VSUBPD(moved, x, x)
			// The row is stored whole: to load it again, soon, would wait for a store of a part of it.
			c.VBLENDPD(operand.U8(firstThree), none, b, b)
			c.VADDPD(b, a, a)
			c.VMOVUPD(a, row)
		}
		// The sums of the numbers of each vector.
		c.VHADDPD(p[1], p[0], p[0])
		c.VHADDPD(p[3], p[2], p[2])
		low := c.YMM()
		c.VPERM2F128(operand.U8(0x20), p[2], p[0], low)
		c.VPERM2F128(operand.U8(0x31), p[2], p[0], p[0])
		c.VADDPD(p[0], low, low)
		c.VMULPD(at(weights, i, 8), low, low)
		c.VADDPD(at(d, i, 8), low, low)
		c.VMOVUPD(low, at(d, i, 8))
	})
	c.VMOVUPD(y, ofY)
	c.VMOVUPD(x, ofX)
	end(c)
}
