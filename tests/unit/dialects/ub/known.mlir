module {
  func.func @f() {
    %0 = ub.poison : vector<4xf32>
    ub.unreachable
  }
}
